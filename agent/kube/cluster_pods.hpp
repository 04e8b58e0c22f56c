// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// This node's pods from the API server and from the kubelet, as one source: merged by uid in one lane, so that the
// agent is handed one set at a time. A server that fails never empties the set.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "evictd/port/pod_source.hpp"
#include "kube/api_connection.hpp"
#include "kube/api_node.hpp"
#include "kube/api_pods.hpp"
#include "kube/api_server.hpp"
#include "kube/kubelet_source.hpp"

namespace evictd::kube {

// One pod from both. Metadata, spec and status are the API server's; the origin is the kubelet's, and so are the
// container IDs that the API server does not know yet.
[[nodiscard]] PodPtr merge_pod(const PodPtr& of_api_server, const PodPtr& of_kubelet);
// Either may be null: not known yet. Ordered by uid. A mirror pod's claim on a UID is ignored if a pod with that UID
// exists or the kubelet has it, and so are the claims of several on the same.
[[nodiscard]] std::vector<PodPtr> merge_pods(const ClusterPodList* of_api_server, const ClusterPodList* of_kubelet);

class ClusterPods final : public port::PodSource {
public:
    // `name` of the API server, for people. Without `kubelet`, the API server's pods alone; without
    // `node_times`, this node's object is not watched.
    ClusterPods(std::string name, AccessSource::Load access, std::string node, std::optional<KubeletAddress> kubelet,
                ApiPodsTimes times = {}, std::optional<ApiNodeTimes> node_times = {});
    ClusterPods(const ClusterPods&) = delete;
    ClusterPods& operator=(const ClusterPods&) = delete;
    ~ClusterPods() override;

    Status start(OnChange on_change) override;
    [[nodiscard]] std::string describe() const override;
    [[nodiscard]] std::vector<PodSourceState> states() const override;

    // Requests over the connection of the watch. It takes them at any time, sends none before start(), and refuses them
    // once this source is gone.
    [[nodiscard]] std::shared_ptr<port::ApiServer> api() const { return server_; }

private:
    void begin();
    void on_news(bool changed);
    void pace_kubelet();
    void deliver();
    void note_states();
    [[nodiscard]] port::PodSet merged() const;

    std::string name_;
    AccessSource access_;
    std::string node_;
    std::optional<KubeletAddress> kubelet_address_;
    ApiPodsTimes times_;
    std::optional<ApiNodeTimes> node_times_;
    OnChange on_change_;
    bool is_delivery_due_ = false;
    MonotonicTime delivered_at_;
    sys::Timer soon_;
    std::set<std::string> asked_for_;  // pods in doubt for which the kubelet was asked again since
    std::shared_ptr<ApiServer> server_ = std::make_shared<ApiServer>();
    std::optional<ApiConnection> connection_;
    std::optional<ApiPods> api_;
    std::optional<ApiNode> api_node_;
    std::optional<KubeletSource> kubelet_;
    mutable std::mutex mutex_;
    std::vector<PodSourceState> states_;  // under mutex_
    // The last member: its thread uses all of the above, and is gone before they are.
    std::unique_ptr<sys::Lane> lane_;
};

}  // namespace evictd::kube

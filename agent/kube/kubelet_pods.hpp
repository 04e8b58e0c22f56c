// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// This node's pods as its kubelet has them (GET /pods): where each comes from, static pods too, and also while the API
// server is away. It has no watch: kubelet_watch, where there is one. It runs in one lane.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "document/value.hpp"
#include "http/client.hpp"
#include "kube/api_access.hpp"
#include "kube/object_splitter.hpp"
#include "kube/pod_text.hpp"
#include "sys/lane.hpp"

namespace evictd::kube {

struct KubeletAddress {
    std::string url;            // "https://127.0.0.1:10250"
    std::string ca_file;        // its own certificate, or the authority that signed it; read for each request
    std::string name;           // that its certificate has: the node's
    std::string pods_socket{};  // of its Pods API (kubelet_watch); empty: none
};

class KubeletPods {
public:
    using OnChange = std::function<void()>;

    // `lane` and `access`, whose token is shown to it, must outlive it. All in the lane's thread.
    KubeletPods(sys::Lane& lane, KubeletAddress address, AccessSource& access, OnChange on_change);
    ~KubeletPods() = default;
    KubeletPods(const KubeletPods&) = delete;
    KubeletPods& operator=(const KubeletPods&) = delete;

    Status start();  // error: there is no timer to be had. It is not asked yet
    void ask();
    // After pause(): at once, or as long after the last request as after one that failed.
    void resume();
    // It is asked again in a second, however often this is called.
    void ask_soon();
    // It is not asked again before ask(); an answer that is under way is not waited for.
    void pause();
    // What another source knew last: known, until there is an answer.
    void adopt(const ClusterPodList& list);
    // The period between two requests that were answered. A shorter one also moves the request that is planned; a
    // longer one does not. `is_alone`: the API server is not there, so that a kubelet that restarts has only the pods
    // that come from files. Pods that its list lacks stay known until it is no longer alone.
    void set_period(Duration period, bool is_alone);

    // Null: not read yet.
    [[nodiscard]] const ClusterPodList* pods() const { return is_listed_ ? &known_ : nullptr; }
    // Why what it has may be out of date. None: the last request was answered.
    [[nodiscard]] const std::optional<Error>& fault() const { return fault_; }
    [[nodiscard]] std::optional<MonotonicTime> heard_at() const { return heard_at_; }

private:
    Status send();
    Status on_items(std::string_view piece);
    void on_done(const Result<http::Reply>& reply);
    Status finish(const Result<http::Reply>& reply);
    Status open(const ApiAccess& access);

    sys::Lane& lane_;
    KubeletAddress address_;
    AccessSource& access_;
    OnChange on_change_;
    Duration period_;
    bool keeps_missing_ = false;
    ClusterPodList known_;
    ClusterPodList listing_;
    bool is_listed_ = false;
    std::optional<Error> fault_;
    std::optional<MonotonicTime> heard_at_;
    MonotonicTime next_ask_ = MonotonicTime::max();
    std::optional<MonotonicTime> asked_at_;
    std::optional<ObjectSplitter> splitter_;
    sys::Timer again_;
    std::unique_ptr<http::Client> client_;
    http::Client::CallPtr call_;  // the last member: its functions use the others
};

}  // namespace evictd::kube

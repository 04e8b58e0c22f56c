// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the kubelet says of its pods, by the better of two ways: its Pods API where its socket is there and answers,
// else its /pods, which is asked now and then. One of them counts at a time. It runs in one lane.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/signal_source.hpp"
#include "kube/kubelet_pods.hpp"
#include "kube/kubelet_watch.hpp"

namespace evictd::kube {

[[nodiscard]] PodSourceState state_of(std::string name, std::optional<MonotonicTime> heard_at,
                                      const std::optional<Error>& fault);

class KubeletSource {
public:
    using OnChange = std::function<void()>;

    // As KubeletPods.
    KubeletSource(sys::Lane& lane, const KubeletAddress& address, AccessSource& access, OnChange on_change,
                  KubeletWatchTimes times = {});
    ~KubeletSource() = default;
    KubeletSource(const KubeletSource&) = delete;
    KubeletSource& operator=(const KubeletSource&) = delete;

    Status start();
    // As KubeletPods. What watches needs not be asked.
    void ask_soon();
    void set_period(Duration period, bool is_alone);

    // Null: not read yet.
    [[nodiscard]] const ClusterPodList* pods() const;
    // Why what it has may be out of date: of the way that counts.
    [[nodiscard]] const std::optional<Error>& fault() const;
    // The way that counts; a socket that is there and cannot be used has a second row.
    [[nodiscard]] std::vector<PodSourceState> states() const;

private:
    void on_watch();
    void on_polled();
    [[nodiscard]] bool is_watching() const { return watch_ && watch_->is_live(); }

    OnChange on_change_;
    std::string url_;
    KubeletPods polls_;
    std::optional<KubeletWatch> watch_;  // none: its socket is not configured
    std::optional<Error> none_;
    bool is_polling_ = false;
    bool was_watching_ = false;
};

}  // namespace evictd::kube

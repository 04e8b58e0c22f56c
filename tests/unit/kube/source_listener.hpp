// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Hears what a source of pods delivers, and waits for what it should.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "evictd/port/pod_source.hpp"
#include "kube_manifests.hpp"

namespace evictd::kube {

// Generous: only a failing test waits for it.
inline constexpr auto patience = std::chrono::seconds(90);

class Listener {
public:
    port::PodSource::OnChange hear() {
        return [this](port::PodSet set) {
            const std::scoped_lock lock(mutex_);
            if (refusals_ > 0) {
                --refusals_;
                return false;
            }
            latest_ = std::move(set);
            ++calls_;
            heard_.notify_all();
            return true;
        };
    }
    testing::AssertionResult until(const std::function<bool(const port::PodSet&)>& holds) {
        std::unique_lock lock(mutex_);
        if (heard_.wait_for(lock, patience, [&] { return calls_ > 0 && holds(latest_); }))
            return testing::AssertionSuccess();
        return testing::AssertionFailure() << "pods: " << names(latest_) << ", rejected: " << latest_.rejected.size()
                                           << (latest_.rejected.empty() ? "" : " " + latest_.rejected[0].text())
                                           << (latest_.unread.empty() ? "" : ", " + latest_.unread[0].text());
    }
    testing::AssertionResult until_pods(const std::string& expected) {
        return until([&](const port::PodSet& set) { return names(set) == expected; });
    }
    void refuse(int sets) { refusals_ = sets; }
    int calls() {
        const std::scoped_lock lock(mutex_);
        return calls_;
    }

private:
    std::mutex mutex_;
    std::condition_variable heard_;
    port::PodSet latest_;
    int calls_ = 0;
    int refusals_ = 0;
};

}  // namespace evictd::kube

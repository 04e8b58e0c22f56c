// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A mailbox of one: the newest desired state, until a reconciler's thread takes it. An older one that was not taken yet
// is replaced, so it never grows, and whoever puts something in never waits.
#pragma once

#include <mutex>
#include <optional>
#include <utility>

#include "sys/pi_mutex.hpp"

namespace evictd::reconcile {

// Every method is thread-safe.
template <class Desired>
class Mailbox {
public:
    // True: a task that takes it has to be posted at this priority. False: one is on its way that is as urgent.
    [[nodiscard]] bool put(Desired desired, int priority) {
        std::optional<Desired> replaced(std::move(desired));  // the older one is destroyed after the mutex is unlocked
        const std::scoped_lock lock(mutex_);
        std::swap(newest_, replaced);
        const bool post = !posted_ || priority > *posted_;
        if (post) {
            posted_ = priority;
        }
        return post;
    }
    // The task was not accepted: the next put() asks for one again.
    void refused() {
        const std::scoped_lock lock(mutex_);
        posted_.reset();
    }
    // Empty if it was taken already.
    [[nodiscard]] std::optional<Desired> take() {
        const std::scoped_lock lock(mutex_);
        posted_.reset();
        return std::exchange(newest_, std::nullopt);
    }

private:
    sys::PiMutex mutex_;
    std::optional<Desired> newest_;
    std::optional<int> posted_;  // the priority of the task that was posted for it
};

}  // namespace evictd::reconcile

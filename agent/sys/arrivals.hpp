// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Answers that another thread delivers at any time, also after nobody wants them any more: whoever delivers holds it by
// a shared pointer. Bounded by the requests that were made. Not a queue of work: that is a lane's.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "evictd/model/units.hpp"

namespace evictd::sys {

template <class T>
class Arrivals {
public:
    // Called with each arrival, in the thread that delivers it, until close(). It must not wait, nor use this object.
    void wake_by(std::function<void()> wake) {
        const std::scoped_lock lock(mutex_);
        wake_ = std::move(wake);
    }
    // When it returns, the function of wake_by() is not running and is never called again. What arrives is still kept.
    void close() { wake_by({}); }

    void put(T arrival) {
        const std::scoped_lock lock(mutex_);
        waiting_.push_back(std::move(arrival));
        arrived_.notify_one();
        if (wake_) wake_();
    }
    [[nodiscard]] std::optional<T> take() { return take_within(Duration::zero()); }
    // Waits for one, for at most `patience`.
    [[nodiscard]] std::optional<T> take_within(Duration patience) {
        std::unique_lock lock(mutex_);
        if (patience > Duration::zero()) arrived_.wait_for(lock, patience, [&] { return !waiting_.empty(); });
        if (waiting_.empty()) return std::nullopt;
        std::optional<T> first(std::move(waiting_.front()));
        waiting_.pop_front();
        return first;
    }

private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<T> waiting_;       // under mutex_
    std::function<void()> wake_;  // under mutex_
};

}  // namespace evictd::sys

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Writes intents down in a thread of its own: a disk that is slow must not hold up the request of the next kill, which
// the thread of pod statuses sends. Not for noting them before a kill (intent_file).
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "evictd/model/result.hpp"
#include "reconcile/intent_store.hpp"
#include "sys/lane.hpp"

namespace evictd::reconcile {

class IntentWriter {
public:
    // `store` is this thread's alone from now on.
    [[nodiscard]] static Result<std::unique_ptr<IntentWriter>> make(IntentStore store);
    IntentWriter(const IntentWriter&) = delete;
    IntentWriter& operator=(const IntentWriter&) = delete;
    // What was handed over is written first, unless the disk takes seconds.
    ~IntentWriter();

    // Thread-safe, never waits. Those that come while one is written are combined.
    void write(IntentChange change);

private:
    explicit IntentWriter(IntentStore store) : store_(std::move(store)) {}
    void work();

    IntentStore store_;  // the lane's alone
    std::mutex mutex_;
    std::optional<IntentChange> waiting_;
    std::unique_ptr<sys::Lane> lane_;  // last: its thread must be gone first
};

}  // namespace evictd::reconcile

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/intent_writer.hpp"

#include <algorithm>
#include <utility>

namespace evictd::reconcile {

Result<std::unique_ptr<IntentWriter>> IntentWriter::make(IntentStore store) {
    std::unique_ptr<IntentWriter> made(new IntentWriter(std::move(store)));
    auto lane =
        sys::Lane::make("evictd-intents", sys::Loop::default_queue, sys::Lane::default_drain, sys::Duty::may_block);
    if (!lane) {
        return tl::unexpected(lane.error());
    }
    made->lane_ = std::move(*lane);
    return made;
}

IntentWriter::~IntentWriter() {
    if (lane_) {
        lane_->close();
    }
}

// One task at a time waits in the queue, so that it is never full; refused, because the lane ends, what waits stays
// noted in memory.
void IntentWriter::write(IntentChange change) {
    {
        const std::scoped_lock lock(mutex_);
        if (waiting_) {
            waiting_->unfinished = std::move(change.unfinished);
            for (const auto& [pod, attempt] : change.settled) {
                auto& settled = waiting_->settled[pod];
                settled = std::max(settled, attempt);
            }
            return;
        }
        waiting_ = std::move(change);
    }
    (void)lane_->post([this] { work(); });
}

void IntentWriter::work() {
    std::optional<IntentChange> change;
    {
        const std::scoped_lock lock(mutex_);
        change = std::exchange(waiting_, std::nullopt);
    }
    if (change) {
        store_.apply(*change);
    }
}

}  // namespace evictd::reconcile

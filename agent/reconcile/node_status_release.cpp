// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// NodeStatusKeeper: what happens when the agent ends. Only here it waits for the server.
#include <utility>

#include "reconcile/node_status_keeper.hpp"
#include "sys/log.hpp"

namespace evictd::reconcile {

void NodeStatusKeeper::release() {
    answers_->close();
    if (options_.dry_run || options_.once || !desired_ || is_ending_) {
        return;
    }
    is_ending_ = true;
    const auto deadline = clock_.monotonic() + options_.time_to_release;
    desired_->taints.clear();
    for (auto& condition : desired_->conditions) {
        condition = {
            .type = condition.type, .status = false, .reason = "EvictdStopped", .message = "evictd has stopped"};
    }
    is_new_ = true;
    const auto confirmed_before = std::exchange(confirmed_at_, std::nullopt);
    make_rounds_until(deadline);
    const bool is_done = !call_ && !has_failed_ && confirmed_at_;
    if (!is_done) {
        confirmed_at_ = confirmed_before;
        sys::log::error("conditions and taints of node " + options_.node + " may be left in the API server: " +
                        (problem_.empty() ? std::string("no answer in time") : problem_) +
                        " (the next agent removes them, or: kubectl taint node " + options_.node + " KEY-)");
    }
}

// Trouble that may pass is met again for as long as there is time, unless the server asks for more than that.
void NodeStatusKeeper::make_rounds_until(MonotonicTime deadline) {
    if (!call_) {
        begin_round();
    }
    while (true) {
        if (call_) {
            const auto answer = answers_->take_within(deadline - clock_.monotonic());
            if (!answer) {
                return;
            }
            on_answer(*answer);
            continue;
        }
        const bool is_to_retry = has_failed_ && failures_.any() && next_ && *next_ < deadline;
        if (is_to_retry) {
            (void)answers_->take_within(*next_ - clock_.monotonic());
        } else if (!is_new_ || has_failed_) {
            return;
        }
        begin_round();  // also where what was under way was of the state before
    }
}

}  // namespace evictd::reconcile

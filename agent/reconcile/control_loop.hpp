// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A reconciler that may wait, in a thread of its own. The kill path only leaves the newest desired state in a mailbox
// of one; the thread has the reconciler make that true, wakes it up when it is due, and has it put back everything at
// the end. A reconciler that only needs microseconds is called inline instead (kernel_watcher, socket_shed).
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"
#include "reconcile/mailbox.hpp"
#include "sys/lane.hpp"

namespace evictd::reconcile {

// Its own thread alone calls it, except for its constructor.
template <class R>
concept Reconciler = requires(R& reconciler, const R& constant, const typename R::Desired& desired) {
    // Compares what should be with what is and changes the difference. States in between may have been left out, and
    // one may come twice. What it will have to put back is written to its ledger first.
    reconciler.reconcile(desired);
    // When it wants to be called without anything new: to retry, to resync, or for the next part of its work. A time in
    // the past: at once, after what was posted meanwhile. None: nothing is due.
    { constant.due() } -> std::same_as<std::optional<MonotonicTime>>;
    reconciler.act_on_time();
    // Nothing is desired any more: the agent ends. Puts back everything, to its end.
    reconciler.release();
};

enum class Urgency : std::uint8_t { can_wait, at_once };

template <Reconciler R>
class ControlLoop {
public:
    using Desired = typename R::Desired;
    struct Options {
        std::string name;                            // of the thread
        sys::Duty duty = sys::Duty::vital;           // not `expendable`: it puts back what it changed
        int urgent_priority = 0;                     // SCHED_FIFO, of what is wanted at once; 0: none
        std::function<void(R&)> start{};             // first of all in the thread: what a killed agent left is put back
        std::function<void(const R&)> after_each{};  // after each call of the reconciler, in the thread: for status
        std::size_t queue = sys::Loop::default_queue;  // tasks
        Duration drain = sys::Lane::default_drain;     // for the tasks that are left at the end
    };

    // `arguments`: of the reconciler's constructor.
    template <class... Arguments>
    static Result<std::unique_ptr<ControlLoop>> make(Options options, Arguments&&... arguments) {
        std::unique_ptr<ControlLoop> made(new ControlLoop(std::move(options), std::forward<Arguments>(arguments)...));
        auto lane =
            sys::Lane::make(made->options_.name, made->options_.queue, made->options_.drain, made->options_.duty);
        if (!lane) {
            return tl::unexpected(lane.error());
        }
        made->lane_ = std::move(*lane);
        if (auto start = std::exchange(made->options_.start, nullptr)) {
            made->tell(std::move(start));
        }
        return made;
    }
    ControlLoop(const ControlLoop&) = delete;
    ControlLoop& operator=(const ControlLoop&) = delete;
    ~ControlLoop() {
        if (!lane_) {
            return;
        }
        ending_ = true;
        (void)lane_->post([this] { turn(); });  // refused: whatever is in the full queue sees that it ends
        lane_->close();
        if (!released_) {
            reconciler_.release();  // what the thread did last took all the time it had
        }
    }

    // Thread-safe, never waits. Replaces what was wanted before, also if that was not looked at yet. Where the queue is
    // full, each task in it takes what is wanted, and the next want() posts again.
    void want(Desired desired, Urgency urgency = Urgency::can_wait) {
        const int priority = urgency == Urgency::at_once ? options_.urgent_priority : 0;
        if (mailbox_.put(std::move(desired), priority) && !lane_->post_urgent([this] { turn(); }, priority)) {
            mailbox_.refused();
        }
    }
    // Thread-safe, never waits. Passes a notification that is not desired state. Dropped and counted where
    // the queue is full, so only for what is found later in another way, too.
    void tell(std::function<void(R&)> news) {
        (void)lane_->post([this, kept = std::move(news)] { turn(kept); });
    }

private:
    template <class... Arguments>
    explicit ControlLoop(Options options, Arguments&&... arguments)
        : options_(std::move(options)), reconciler_(std::forward<Arguments>(arguments)...) {}

    // Runs in the lane. News is handled before the desired state, and `start` before both.
    void turn(const std::function<void(R&)>& news = {}) {
        if (released_) {
            return;
        }
        if (news) {
            news(reconciler_);
        }
        if (const auto desired = mailbox_.take()) {
            reconciler_.reconcile(*desired);
        }
        if (ending_) {
            released_ = true;
            reconciler_.release();
        }
        (void)lane_->arm(timer_, reconciler_.due(), [this] { turn(&R::act_on_time); });
        if (options_.after_each) {
            options_.after_each(reconciler_);
        }
    }

    Options options_;
    R reconciler_;  // the lane's alone
    Mailbox<Desired> mailbox_;
    std::atomic<bool> ending_ = false;
    bool released_ = false;  // the lane's
    sys::Timer timer_;
    std::unique_ptr<sys::Lane> lane_;  // last: its thread must be gone first
};

}  // namespace evictd::reconcile

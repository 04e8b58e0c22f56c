// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Has the API server show what the Decision wants of pods: one request for each attempt, sent again until it is
// answered. What must not be lost is noted (intent_store) and delivered by the next agent. It never chooses a pod
// and never decides to try again: the policy counts attempts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "codec/api_objects.hpp"
#include "evictd/model/api_figures.hpp"
#include "evictd/model/back_off.hpp"
#include "evictd/model/pod_status.hpp"
#include "evictd/port/api_server.hpp"
#include "reconcile/intent_store.hpp"
#include "reconcile/pod_status_answer.hpp"
#include "sys/clock.hpp"

namespace evictd::reconcile {

// False: it cannot be taken now, and is told again later.
using TellPodStatus = std::function<bool(PodStatusOutcome)>;
// Writes down what is not answered yet and what is settled; must not wait for a disk (IntentWriter::write()).
using WriteIntents = std::function<void(IntentChange)>;

// For metrics. Thread-safe.
class PodStatusCounters {
public:
    void count(PodStatusResult result) {
        change([&](auto& all) { all.results.at(static_cast<std::size_t>(result))++; });
    }
    void count_retry() {
        change([](auto& all) { all.retries++; });
    }
    void set_waiting(std::size_t waiting) {
        change([&](auto& all) { all.waiting = waiting; });
    }
    [[nodiscard]] PodStatusFigures figures() const {
        const std::scoped_lock lock(mutex_);
        return figures_;
    }

private:
    template <class Change>
    void change(Change change) {
        const std::scoped_lock lock(mutex_);
        change(figures_);
    }
    mutable std::mutex mutex_;
    PodStatusFigures figures_;
};

struct PodStatusOptions {
    std::string node;      // a pod that an earlier agent noted and is on another is left alone
    bool dry_run = false;  // nothing is sent, noted or cleared
    std::shared_ptr<PodStatusCounters> counters = std::make_shared<PodStatusCounters>();
};

class PodStatusKeeper {
public:
    using Desired = std::vector<DesiredPodStatus>;

    // All must outlive it. `tell` is called in its thread: once for each attempt that was answered, and once for one
    // that was not when that is first known.
    PodStatusKeeper(port::ApiServer& api, const sys::Clock& clock, WriteIntents write, PodStatusOptions options,
                    TellPodStatus tell);

    // First: what earlier agents noted and was not answered (IntentStore::recover()) is delivered, unless the pod is
    // gone or shown as ended. The policy may adopt such an attempt: then it is desired with the same decided_at.
    void recover(const std::vector<Intent>& noted);
    // `wake` has this thread call take_answers(); it is called in any thread, until release().
    void connect(std::function<void()> wake);
    void take_answers();
    // An intent that was noted and is not desired, up to this attempt: it is cleared from where intents are noted. A
    // request under way is not ended.
    void drop(const PodUid& pod, std::int32_t attempt);

    // As a Reconciler (control_loop.hpp). An attempt that is desired no more before it was answered is withdrawn, and
    // so is its intent.
    void reconcile(const Desired& desired);
    [[nodiscard]] std::optional<MonotonicTime> due() const;
    void act_on_time();
    // Answers still to come are dropped: what they are about is noted.
    void release();

private:
    enum class Step : std::uint8_t { waiting, looking, sending, answered };
    struct Entry {
        DesiredPodStatus wanted;
        WallTime noted_at;
        bool is_recovered = false;  // noted by an earlier agent
        bool was_looked_at = false;
        bool is_desired = true;
        bool is_accepted = false;
        bool told_unreachable = false;
        Step step = Step::waiting;
        ServerFailures failures{};
        std::uint64_t ticket = 0;  // of the request under way
        MonotonicTime next_at;     // waiting: when it is sent; under way: when an answer is not expected any more
        std::optional<MonotonicTime> sent_at{};        // first
        std::optional<MonotonicTime> refused_since{};  // for want of rights
        std::optional<Answer> unreported{};            // of a recovered one that was answered before it was desired
        std::string boot{};                            // of a recovered one: in which it was noted; empty: this one
        std::optional<PodStatusOutcome> untold{};      // could not be taken, and is told again
        MonotonicTime tell_at{};
    };
    struct Answered {
        std::uint64_t ticket = 0;
        Result<port::ApiReply> reply;
    };
    // Shared with the requests under way, which may outlive this.
    struct Inbox {
        std::mutex mutex;
        std::vector<Answered> answers;
        std::function<void()> wake;
    };

    // "pod default/web (UID)", for the log.
    [[nodiscard]] static std::string text_of(const DesiredPodStatus& pod);
    void want(const DesiredPodStatus& wanted);
    void send_due();
    void advance(Entry& entry);
    void send(Entry& entry, codec::ApiMessage message, Step step);
    [[nodiscard]] codec::ApiMessage message_for(const Entry& entry) const;
    void on_answer(Entry& entry, const Result<port::ApiReply>& reply);
    [[nodiscard]] bool may_pass(Entry& entry, const Answer& answer) const;
    void on_look(Entry& entry, const port::ApiReply& reply);
    void retry(Entry& entry, const Answer& answer);
    void finish(Entry& entry, const Answer& answer);
    void pretend(Entry& entry);
    void report(Entry& entry, const Answer& answer);
    void tell(Entry& entry, PodStatusOutcome outcome);
    void tell_again();
    void settle(const PodUid& pod, std::int32_t attempt);
    void persist();
    [[nodiscard]] Duration pause_after(std::int32_t failures);

    port::ApiServer& api_;
    const sys::Clock& clock_;
    WriteIntents write_;
    PodStatusOptions options_;
    TellPodStatus tell_;
    std::map<PodUid, Entry> entries_;
    std::map<PodUid, std::int32_t> settled_;  // and not written down yet
    codec::EvictionApi eviction_api_ = codec::EvictionApi::v1;
    std::uint64_t last_ticket_ = 0;
    std::mt19937_64 random_;
    std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
};

}  // namespace evictd::reconcile

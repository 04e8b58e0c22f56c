// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/pod_status_keeper.hpp"

#include <algorithm>
#include <utility>

#include "evictd/model/text.hpp"
#include "sys/log.hpp"

namespace evictd::reconcile {
namespace {

using namespace std::chrono_literals;

// An outcome that could not be taken: the agent's queue is full, for as long as a look takes.
constexpr Duration tell_again_after = 100ms;

}  // namespace

PodStatusKeeper::PodStatusKeeper(port::ApiServer& api, const sys::Clock& clock, WriteIntents write,
                                 PodStatusOptions options, TellPodStatus tell)
    : api_(api),
      clock_(clock),
      write_(std::move(write)),
      options_(std::move(options)),
      tell_(std::move(tell)),
      random_(std::random_device{}()) {}

std::string PodStatusKeeper::text_of(const DesiredPodStatus& pod) {
    return "pod " + printable(pod.name_space) + "/" + printable(pod.name) + " (" + printable(pod.pod.value) + ")";
}

void PodStatusKeeper::recover(const std::vector<Intent>& noted) {
    if (options_.dry_run) {
        return;
    }
    for (const auto& intent : noted) {
        const auto& [status, noted_at, boot, answered] = intent;
        if (answered && !is_resumable(intent, clock_.monotonic())) {
            settle(status.pod, status.attempt);
            continue;
        }
        sys::log::warn(text_of(status) +
                       ": evicted by an earlier agent, which ended before the eviction was over: resumed");
        Entry entry{.wanted = status, .noted_at = noted_at, .is_recovered = true, .is_desired = false, .boot = boot};
        entries_.try_emplace(status.pod, std::move(entry));
    }
    send_due();
    persist();
}

void PodStatusKeeper::connect(std::function<void()> wake) {
    {
        const std::scoped_lock lock(inbox_->mutex);
        inbox_->wake = std::move(wake);
    }
    take_answers();
}

void PodStatusKeeper::release() {
    const std::scoped_lock lock(inbox_->mutex);
    inbox_->wake = nullptr;
}

void PodStatusKeeper::reconcile(const Desired& desired) {
    for (auto& [uid, entry] : entries_) {
        entry.is_desired = false;
    }
    for (const auto& one : desired) {
        want(one);
    }
    std::erase_if(entries_, [this](const auto& row) {
        const auto& [uid, entry] = row;
        const bool withdrawn = !entry.is_desired && (entry.step == Step::answered || !entry.is_recovered);
        if (withdrawn && !options_.dry_run && is_worth_noting(entry.wanted)) {
            settle(uid, entry.wanted.attempt);
        }
        return withdrawn;
    });
    act_on_time();
}

// A newer attempt replaces the older, whose answer does not matter any more.
void PodStatusKeeper::want(const DesiredPodStatus& wanted) {
    const auto [row, is_new] = entries_.try_emplace(wanted.pod);
    auto& entry = row->second;
    const bool is_another = entry.is_recovered && entry.wanted.decided_at != wanted.decided_at;
    if (!is_new && !is_another && entry.wanted.attempt >= wanted.attempt) {
        entry.is_desired = true;
        if (const auto answer = std::exchange(entry.unreported, std::nullopt)) {
            report(entry, *answer);
        }
        return;
    }
    if (!is_new && !is_another && is_worth_noting(entry.wanted)) {
        settle(wanted.pod, entry.wanted.attempt);
    }
    entry = Entry{.wanted = wanted, .noted_at = clock_.wall()};
}

std::optional<MonotonicTime> PodStatusKeeper::due() const {
    std::optional<MonotonicTime> first;
    const auto consider = [&first](MonotonicTime at) {
        if (!first || at < *first) {
            first = at;
        }
    };
    for (const auto& [uid, entry] : entries_) {
        if (entry.step != Step::answered) {
            consider(entry.next_at);
        }
        if (entry.untold) {
            consider(entry.tell_at);
        }
    }
    return first;
}

void PodStatusKeeper::act_on_time() {
    take_answers();
    send_due();
    tell_again();
    persist();
}

void PodStatusKeeper::drop(const PodUid& pod, std::int32_t attempt) {
    settle(pod, attempt);
    persist();
}

void PodStatusKeeper::settle(const PodUid& pod, std::int32_t attempt) {
    auto& settled = settled_[pod];
    settled = std::max(settled, attempt);
}

void PodStatusKeeper::finish(Entry& entry, const Answer& answer) {
    entry.step = Step::answered;
    entry.is_accepted = answer.result == PodStatusResult::accepted;
    if (entry.is_recovered) {
        sys::log::info(text_of(entry.wanted) + ": eviction by an earlier agent: " + std::string(name(answer.result)) +
                       (answer.error.empty() ? "" : ": " + answer.error));
    }
    if (entry.is_desired) {
        report(entry, answer);
    } else {
        entry.unreported = answer;
    }
}

void PodStatusKeeper::pretend(Entry& entry) {
    const auto message = message_for(entry);
    sys::log::info("dry run: " + text_of(entry.wanted) + ": would send " + message.method + " " + message.path + " " +
                   excerpt(message.body, 2000));
    entry.sent_at = clock_.monotonic();
    finish(entry, {.result = PodStatusResult::pretended});
}

void PodStatusKeeper::report(Entry& entry, const Answer& answer) {
    options_.counters->count(answer.result);
    const auto now = clock_.monotonic();
    tell(entry, {.pod = entry.wanted.pod,
                 .attempt = entry.wanted.attempt,
                 .end = entry.wanted.end,
                 .result = answer.result,
                 .sent_at = entry.sent_at.value_or(now),
                 .answered_at = now,
                 .retry_after = answer.retry_after,
                 .error = answer.error});
}

// A newer outcome of the same attempt says more than one before it.
void PodStatusKeeper::tell(Entry& entry, PodStatusOutcome outcome) {
    entry.untold.reset();
    if (!tell_(outcome)) {
        entry.untold = std::move(outcome);
        entry.tell_at = clock_.monotonic() + tell_again_after;
    }
}

void PodStatusKeeper::tell_again() {
    const auto now = clock_.monotonic();
    for (auto& [uid, entry] : entries_) {
        if (entry.untold && entry.tell_at <= now) {
            tell(entry, *std::exchange(entry.untold, std::nullopt));
        }
    }
}

// After the requests were handed over, which a disk must not hold up. One that was accepted is kept while it is
// desired: the pod is watched, and the next agent would not know of it.
void PodStatusKeeper::persist() {
    options_.counters->set_waiting(static_cast<std::size_t>(std::count_if(
        entries_.begin(), entries_.end(), [](const auto& row) { return row.second.step != Step::answered; })));
    if (options_.dry_run) {
        return;
    }
    IntentChange change{.unfinished = {}, .settled = std::exchange(settled_, {})};
    for (const auto& [uid, entry] : entries_) {
        const bool is_answered = entry.step == Step::answered;
        if (is_answered && !(entry.is_accepted && entry.is_desired)) {
            auto& settled = change.settled[uid];
            settled = std::max(settled, entry.wanted.attempt);
        } else if (is_worth_noting(entry.wanted)) {
            change.unfinished.push_back({entry.wanted, entry.noted_at, entry.boot, is_answered});
        }
    }
    write_(std::move(change));
}

}  // namespace evictd::reconcile

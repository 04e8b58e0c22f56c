// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/rung_keeper.hpp"

#include <algorithm>
#include <utility>

#include <unistd.h>

#include "sys/log.hpp"

namespace evictd::reconcile {
namespace {

// A pod must not stay frozen because a write failed once.
constexpr Duration try_again_after = std::chrono::milliseconds(100);

}  // namespace

bool contains(const DesiredRungs& desired, const Rung& rung) {
    return std::any_of(desired.begin(), desired.end(), [&](const WantedRung& one) { return one.rung == rung; });
}

RungKeeper::RungKeeper(const port::PodControls& controls, const sys::Clock& clock, RungOptions options, TellRung tell)
    : controls_(controls), clock_(clock), options_(std::move(options)), tell_(std::move(tell)) {}

// What ends comes first: a pod that is to die must not stay frozen while others are handled.
void RungKeeper::reconcile(const DesiredRungs& desired) {
    const auto is_wanted = [&](const Holding& holding) { return contains(desired, holding.wanted.rung); };
    for (auto& holding : holdings_) {
        if (!is_wanted(holding) && !holding.over) {
            end(holding);
        }
    }
    std::erase_if(holdings_, [&](const Holding& holding) { return holding.over && !is_wanted(holding); });
    for (const auto& one : desired) {
        const bool known = std::any_of(holdings_.begin(), holdings_.end(),
                                       [&](const Holding& holding) { return holding.wanted.rung == one.rung; });
        if (!known && one.rung.kind != RungKind::reclaim) {
            begin(one);
        }
    }
}

void RungKeeper::begin(const WantedRung& wanted) {
    Holding holding{.wanted = wanted, .held = {wanted.rung.kind, wanted.place(), wanted.rung.bytes, {}}};
    holding.since = clock_.monotonic();
    const auto done = options_.dry_run ? Status{} : set(holding);
    holding.over = !done;
    tell(holding, done ? RungStatus::begun : RungStatus::failed, done ? "" : done.error().text());
    holdings_.push_back(std::move(holding));
}

Status RungKeeper::set(Holding& holding) {
    if (auto allowed = reject_own_pod(holding.wanted); !allowed) {
        return allowed;
    }
    auto done = holding.held.kind == RungKind::squeeze ? set_limit(holding) : freeze(holding);
    holding.done = done.has_value();
    if (!done) {
        (void)remember();  // without it
    }
    return done;
}

Status RungKeeper::reject_own_pod(const WantedRung& wanted) const {
    const auto listed = wanted.cgroup->processes();
    if (!listed) {
        return tl::unexpected(listed.error());
    }
    if (std::find(listed->begin(), listed->end(), getpid()) != listed->end()) {
        return fail(ErrorKind::failed, wanted.rung.pod_name, "evictd itself runs in this pod; it is not touched");
    }
    return {};
}

Status RungKeeper::set_limit(Holding& holding) {
    const auto before = controls_.limit(holding.held.place);
    if (!before) {
        return tl::unexpected(before.error());
    }
    // A kubelet with MemoryQoS, or whatever else set it: what it is for is not known here.
    if (*before != port::no_limit) {
        return fail(ErrorKind::failed, "memory.high",
                    "it is already limited to " + std::to_string(before->value) + " bytes");
    }
    holding.held.before = *before;
    auto done = remember(&holding);
    return done ? controls_.set_limit(holding.held.place, holding.held.ours) : done;
}

Status RungKeeper::freeze(Holding& holding) {
    const auto frozen = controls_.is_frozen(holding.held.place);
    if (!frozen) {
        return tl::unexpected(frozen.error());
    }
    if (*frozen) {
        return fail(ErrorKind::failed, "freezer", "it is already frozen");
    }
    auto done = remember(&holding);
    return done ? controls_.set_frozen(holding.held.place, true) : done;
}

// First put back, then forgotten.
void RungKeeper::end(Holding& holding) {
    const auto back = holding.done ? put_back(controls_, holding.held) : Result<std::string>("");
    if (!back) {
        if (holding.try_again == MonotonicTime{}) {
            sys::log::error(holding.wanted.rung.pod_name + ": " + back.error().text());
        }
        holding.try_again = clock_.monotonic() + try_again_after;
        return;
    }
    holding.over = true;
    if (std::exchange(holding.done, false)) {
        (void)remember();
    }
    tell(holding, RungStatus::ended, *back);
}

Status RungKeeper::remember(const Holding* more) const {
    std::vector<HeldRung> all;
    for (const auto& holding : holdings_) {
        if (holding.done) {
            all.push_back(holding.held);
        }
    }
    if (more != nullptr) {
        all.push_back(more->held);
    }
    return remember_held(options_.ledger_path, all);
}

PutBack RungKeeper::recover() {
    return options_.dry_run ? PutBack{} : put_back_with_victims(controls_, options_.ledger_path);
}

std::optional<MonotonicTime> RungKeeper::due() const {
    std::optional<MonotonicTime> due;
    for (const auto& holding : holdings_) {
        const auto at = holding.try_again == MonotonicTime{} ? holding.wanted.rung.until : holding.try_again;
        if (!holding.over && (!due || at < *due)) {
            due = at;
        }
    }
    return due;
}

void RungKeeper::act_on_time() {
    const auto now = clock_.monotonic();
    for (auto& holding : holdings_) {
        const bool again = holding.try_again != MonotonicTime{} && holding.try_again <= now;
        if (!holding.over && (holding.wanted.rung.until <= now || again)) {
            end(holding);
        }
    }
}

void RungKeeper::tell(const Holding& holding, RungStatus status, std::string error) const {
    const auto now = clock_.monotonic();
    tell_({.rung = holding.wanted.rung,
           .status = status,
           .at = now,
           .took = status == RungStatus::ended ? now - holding.since : Duration::zero(),
           .dry_run = options_.dry_run,
           .error = std::move(error)});
}

}  // namespace evictd::reconcile

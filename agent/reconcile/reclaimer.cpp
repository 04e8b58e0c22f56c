// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/reclaimer.hpp"

#include <algorithm>
#include <utility>

namespace evictd::reconcile {
namespace {

// A few milliseconds of the kernel's time. Halved, the writes themselves count; doubled, what is not wanted any more
// continues for longer.
constexpr Bytes piece = 16_MiB;
// Less than this of a piece: the pod has no more to give, or needs what it has.
constexpr Bytes hardly_anything = 1_MiB;

}  // namespace

Reclaimer::Reclaimer(const port::PodControls& controls, const sys::Clock& clock, bool dry_run, TellRung tell)
    : controls_(controls), clock_(clock), dry_run_(dry_run), tell_(std::move(tell)) {}

void Reclaimer::reconcile(const DesiredRungs& desired) {
    const auto is_wanted = [&](const Job& job) { return contains(desired, job.wanted.rung); };
    for (auto& job : jobs_) {
        if (!job.over && !is_wanted(job)) {
            end(job, {}, /*cut_short=*/true);
        }
    }
    std::erase_if(jobs_, [&](const Job& job) { return !is_wanted(job); });
    for (const auto& one : desired) {
        const bool known =
            std::any_of(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.wanted.rung == one.rung; });
        if (known || one.rung.kind != RungKind::reclaim) {
            continue;
        }
        jobs_.push_back({.wanted = one, .since = clock_.monotonic(), .reclaimed = {}});
        tell_({.rung = one.rung,
               .status = RungStatus::begun,
               .at = jobs_.back().since,
               .dry_run = dry_run_,
               .error = {}});
        if (dry_run_) {
            end(jobs_.back());
        }
    }
}

// The growth of the pod meanwhile is not seen: the least that was given back is reported.
Result<Bytes> Reclaimer::take_piece(const Job& job) const {
    const auto place = job.wanted.place();
    const auto before = controls_.usage(place);
    if (!before) {
        return tl::unexpected(before.error());
    }
    if (auto done = controls_.reclaim(place, std::min(piece, job.wanted.rung.bytes - job.reclaimed)); !done) {
        return tl::unexpected(done.error());
    }
    const auto after = controls_.usage(place);
    return after ? Result<Bytes>(std::max(Bytes{0}, *before - *after)) : after;
}

std::optional<MonotonicTime> Reclaimer::due() const {
    const bool idle = std::all_of(jobs_.begin(), jobs_.end(), [](const Job& one) { return one.over; });
    return idle ? std::nullopt : std::optional(MonotonicTime{});
}

void Reclaimer::act_on_time() {
    const auto job = std::find_if(jobs_.begin(), jobs_.end(), [](const Job& one) { return !one.over; });
    if (job == jobs_.end()) {
        return;
    }
    const auto taken = take_piece(*job);
    if (!taken) {
        end(*job, taken.error().kind == ErrorKind::vanished ? "" : taken.error().text());
        return;
    }
    job->reclaimed += *taken;
    if (*taken < hardly_anything || job->reclaimed >= job->wanted.rung.bytes ||
        clock_.monotonic() >= job->wanted.rung.until) {
        end(*job);
    }
}

void Reclaimer::end(Job& job, std::string error, bool cut_short) {
    job.over = true;
    const auto now = clock_.monotonic();
    tell_({.rung = job.wanted.rung,
           .status = error.empty() ? RungStatus::ended : RungStatus::failed,
           .at = now,
           .took = now - job.since,
           .bytes = job.reclaimed,
           .cut_short = cut_short,
           .dry_run = dry_run_,
           .error = std::move(error)});
}

}  // namespace evictd::reconcile

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/kernel_watcher.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "sys/log.hpp"

namespace evictd::reconcile {
namespace {

// After pressure: a node that flaps around a line must not attach and detach all the time.
constexpr Duration exits_linger = std::chrono::seconds(10);

}  // namespace

void KernelWatcher::reconcile(const KernelWatch& wanted, MonotonicTime now) {
    if (memory_counted_as_ != wanted.counted) {
        if (auto told = events_.count_memory(wanted.counted)) {
            memory_counted_as_ = wanted.counted;
        } else {
            sys::log::error(told.error().text());
        }
    }
    if (stall_lines_ != wanted.stall_lines) {
        if (auto told = events_.watch_stalls(wanted.stall_lines)) {
            stall_lines_ = wanted.stall_lines;
        } else {
            sys::log::error(told.error().text());
        }
    }
    if (wanted.lines && *wanted.lines != lines_) {
        watch(*wanted.lines, wanted.approaches);
    }
    watch_exits(wanted.exits, now);
}

void KernelWatcher::watch(const std::vector<Watermark>& lines, const std::vector<Watermark>& approaches) {
    auto all = lines;
    all.insert(all.end(), approaches.begin(), approaches.end());
    crossed_.clear();  // every line is compared and reported again
    if (auto watching = events_.watch(all); !watching) {
        sys::log::error(watching.error().text());
        return;
    }
    lines_ = lines;
}

// Every cgroup created or removed on the host pays for it. If the kernel refuses, it is not retried at each look.
void KernelWatcher::watch_exits(bool wanted, MonotonicTime now) {
    if (wanted) {
        exits_until_ = now + exits_linger;
    }
    const bool on = now < exits_until_;
    if (on == exits_watched_) {
        return;
    }
    exits_watched_ = on;
    if (auto done = events_.watch_exits(on); !done) {
        sys::log::error(done.error().text());
    }
}

void KernelWatcher::show_pods(const Observation& observation, const std::vector<RankedPod>& ranking) {
    shown_.clear();
    std::uint32_t evictable = 0;
    for (const auto& ranked : ranking) {
        const std::uint32_t rank = ranked.exemption == Exemption::none ? ++evictable : 0;
        const auto& observed = observation.pods[ranked.pod];
        if (observed.cgroup != CgroupId{}) {
            shown_.push_back({&observed, ranked.request, rank});
        }
    }
    const auto done = events_.show_pods(shown_);
    if (!done && !show_failed_) {
        sys::log::error(done.error().text());
    }
    show_failed_ = !done;
}

Crossing KernelWatcher::note(const WatermarkCrossed& crossed) {
    const Watermark line{crossed.signal, crossed.threshold};
    if (std::find(lines_.begin(), lines_.end(), line) == lines_.end()) {
        return crossed.under ? Crossing::approach : Crossing::other;
    }
    std::erase(crossed_, line);
    if (crossed.under) {
        crossed_.push_back(line);
    }
    return Crossing::line;
}

LowestCrossed KernelWatcher::lowest_crossed() const {
    LowestCrossed lowest;
    for (const auto& line : crossed_) {
        auto& of_signal = lowest[static_cast<std::size_t>(line.signal)];
        of_signal = std::min(of_signal.value_or(line.threshold), line.threshold);
    }
    return lowest;
}

}  // namespace evictd::reconcile

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/sweep_schedule.hpp"

#include <utility>

namespace evictd::reconcile {
namespace {

// Ten seconds of the budget: the round of a node with 110 pods of ten processes each is never put off.
constexpr Duration budget_burst = std::chrono::milliseconds(200);
// CPU time after which the thread takes what was posted to it meanwhile: steering must not wait for regular looks.
constexpr Duration at_once = std::chrono::milliseconds(20);
// Of CPU time: some 10,000 processes. The budget has earned it back after 25 s, however much more was spent: pods that
// are raised again and again must not keep all others waiting for longer.
constexpr Duration most_debt = std::chrono::milliseconds(500);
// However often it was done before: 256 processes, 10 ms.
constexpr int slices_at_least = 4;

}  // namespace

SweepSchedule::SweepSchedule(const sys::Clock& clock, std::function<Duration()> cpu_time)
    : clock_(clock), cpu_time_(std::move(cpu_time)), budget_(budget_percent, budget_burst, most_debt) {}

void SweepSchedule::add(const PodUid& pod) {
    if (waiting_.insert(pod).second) {
        turns_.push_back(pod);
    }
}

std::optional<PodUid> SweepSchedule::next() {
    while (!turns_.empty()) {
        PodUid pod = std::move(turns_.front());
        turns_.pop_front();
        if (waiting_.erase(pod) > 0) {
            return pod;
        }
    }
    return std::nullopt;
}

bool SweepSchedule::charge(const PodUid& pod, const Step& step) {
    const auto before = cpu_time();
    const bool more = step(pod);
    budget_.charge(cpu_time() - before, clock_.monotonic());
    return more;
}

void SweepSchedule::work(const Step& step) {
    const auto begin = cpu_time();
    while (cpu_time() - begin < at_once && budget_.ready(clock_.monotonic())) {
        const auto pod = next();
        if (!pod) {
            return;
        }
        if (charge(*pod, step)) {
            add(*pod);
        }
    }
}

bool SweepSchedule::work_at_once(const PodUid& pod, const Step& step) {
    for (int slices = 1; charge(pod, step); slices++) {
        if (slices >= slices_at_least && budget_.spent(clock_.monotonic()) > most_debt) {
            add(pod);
            return false;
        }
    }
    return true;
}

void SweepSchedule::begin_at_once(const PodUid& pod, const Step& step) {
    for (int slices = 0; slices < slices_at_least; slices++) {
        if (!charge(pod, step)) {
            return;
        }
    }
    add(pod);
}

// A spent budget allows one more slice after some ms. But each wakeup of the keeper goes over all pods, and that time
// is not charged to the budget. So the rest is a second long, in which the budget earns what is done at once.
std::optional<MonotonicTime> SweepSchedule::due() const {
    if (turns_.empty()) return std::nullopt;
    const auto now = clock_.monotonic();
    return budget_.ready(now) ? now : budget_.ready_at(now) + at_once * 100 / budget_percent;
}

}  // namespace evictd::reconcile

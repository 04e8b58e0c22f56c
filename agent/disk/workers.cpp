// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/workers.hpp"

#include <algorithm>
#include <utility>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/log.hpp"

namespace evictd::disk {
namespace {

constexpr std::size_t longest_walk_queue = 2;

// Not SCHED_IDLE: a thread that holds the lock of a pod's directory must get a CPU to let go of it. Refused: they stay
// as they are.
void lower_priority() {
    constexpr int nice = 10;
    // Of linux/ioprio.h, whose newer versions are not C++: IOPRIO_WHO_PROCESS, and IOPRIO_CLASS_IDLE in its place.
    constexpr int this_thread = 1;
    constexpr int idle = 3 << 13U;
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nice);
    (void)::syscall(SYS_ioprio_set, this_thread, 0, idle);
}

}  // namespace

Workers::~Workers() {
    for (const auto& worker : workers_) {
        if (worker.pulse) worker.pulse->cancel();
    }
}

std::size_t Workers::hanging() const {
    return static_cast<std::size_t>(
        std::count_if(workers_.begin(), workers_.end(), [](const Worker& worker) { return worker.hangs(); }));
}

std::size_t Workers::replaced() const {
    const auto count =
        std::count_if(workers_.begin(), workers_.end(), [](const Worker& worker) { return worker.is_long(); });
    return std::min(hanging(), options_.most_replaced) + std::min(static_cast<std::size_t>(count), options_.most_long);
}

bool Workers::has_free() const {
    const auto busy =
        std::count_if(workers_.begin(), workers_.end(), [](const Worker& worker) { return worker.is_busy(); });
    return static_cast<std::size_t>(busy) < options_.threads + replaced();
}

Workers::Worker* Workers::free_one() {
    if (!has_free()) return nullptr;
    const auto idle =
        std::find_if(workers_.begin(), workers_.end(), [](const Worker& worker) { return !worker.is_busy(); });
    if (idle != workers_.end()) return &*idle;
    auto lane = sys::Lane::make("evictd-walk", longest_walk_queue, Duration::zero(), sys::Duty::expendable);
    if (!lane) {
        if (!std::exchange(was_refused_, true)) sys::log::error("a thread for directories: " + lane.error().text());
        return nullptr;
    }
    was_refused_ = false;
    (void)(*lane)->post(lower_priority);
    workers_.emplace_back().lane = std::move(*lane);
    return &workers_.back();
}

PulsePtr Workers::start(Work work) {
    auto* worker = free_one();
    if (worker == nullptr) return nullptr;
    auto pulse = std::make_shared<Pulse>();
    const bool posted = worker->lane->post([pulse, work = std::move(work)]() mutable {
        const auto deliver = work(*pulse);
        work = nullptr;
        pulse->done_ = true;
        if (deliver) deliver();
    });
    if (!posted) return nullptr;
    worker->pulse = pulse;
    worker->beats = 0;
    worker->started = worker->beaten = clock_.monotonic();
    worker->takes_long = false;
    return pulse;
}

void Workers::check() {
    const auto now = clock_.monotonic();
    for (auto& worker : workers_) {
        if (!worker.is_busy()) continue;
        worker.takes_long = now - worker.started > options_.longest_turn;
        const auto beats = worker.pulse->beats();
        if (std::exchange(worker.beats, beats) != beats) {
            worker.beaten = now;
            worker.pulse->hangs_ = false;
        } else if (now - worker.beaten > options_.patience) {
            worker.pulse->hangs_ = true;
        }
    }
    // One that came back makes one too many.
    while (workers_.size() > options_.threads + replaced()) {
        const auto idle =
            std::find_if(workers_.begin(), workers_.end(), [](const Worker& worker) { return !worker.is_busy(); });
        if (idle == workers_.end()) break;
        workers_.erase(idle);
    }
}

}  // namespace evictd::disk

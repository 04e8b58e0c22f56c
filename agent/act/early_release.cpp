// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "act/early_release.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>

#include "sys/clock.hpp"

namespace evictd::act {

Result<std::unique_ptr<EarlyRelease>> EarlyRelease::make(Release release, int urgent_priority) {
    std::unique_ptr<EarlyRelease> made(new EarlyRelease(std::move(release), urgent_priority));
    // Not drained: at the agent's end the processes give their memory back by exiting.
    auto lane = sys::Lane::make("evictd-release", most_waiting, Duration::zero(), sys::Duty::expendable);
    if (!lane) {
        return tl::unexpected(lane.error());
    }
    made->lane_ = std::move(*lane);
    if (auto started = made->start_watch(); !started) {
        return tl::unexpected(started.error());
    }
    return made;
}

// A thread of its own: the one that kills is busy, and the reaper's may wait for the kernel's cgroup_mutex or walk for
// seconds. Its priority is above the lane's that it has give way: on one CPU it would not run otherwise.
Status EarlyRelease::start_watch() {
    if (urgent_priority_ == 0) {
        return {};
    }
    auto watch = sys::Lane::make("evictd-give-way");
    if (!watch) {
        return tl::unexpected(watch.error());
    }
    watch_ = std::move(*watch);
    watch_->post([this] {  // the timer is there before there is a victim
        watch_->be_urgent(urgent_priority_ + 1);
        give_way_at(std::nullopt);
    });
    return {};
}

void EarlyRelease::give_way_at(std::optional<MonotonicTime> due) {
    (void)watch_->arm(timer_, due, [this] {
        is_urgent_ = false;
        lane_->give_way();
    });
}

void EarlyRelease::begin() {
    if (!watch_ || is_urgent_.exchange(true)) {
        return;
    }
    const auto due = sys::SystemClock().monotonic() + urgent_for;
    if (!watch_->post([this, due] { give_way_at(due); })) {
        is_urgent_ = false;
    }
}

// The lowest number that is free: near the limit, few are left.
void EarlyRelease::expect(std::span<const HeldProcess> doomed) {
    rlimit limit{};
    (void)::getrlimit(RLIMIT_NOFILE, &limit);
    std::vector<HeldProcess> copies;
    const auto room = reserve(doomed.size());
    for (const auto& process : doomed.first(room)) {
        sys::Fd pidfd(::fcntl(process.pidfd.get(), F_DUPFD_CLOEXEC, 0));
        if (pidfd && static_cast<rlim_t>(pidfd.get()) + spare_descriptors < limit.rlim_cur) {
            copies.push_back({process.pid, std::move(pidfd)});
        }
    }
    shared_->waiting -= room - copies.size();
    post(std::move(copies), longest_wait, urgent_priority_);
}

void EarlyRelease::take_from(std::vector<HeldProcess>& held) {
    const auto end = held.begin() + static_cast<std::ptrdiff_t>(reserve(held.size()));
    std::vector<HeldProcess> taken(std::make_move_iterator(held.begin()), std::make_move_iterator(end));
    held.erase(held.begin(), end);
    post(std::move(taken), Duration::zero(), is_urgent_ ? urgent_priority_ : 0);
}

// How many of `wanted` there is room for.
std::size_t EarlyRelease::reserve(std::size_t wanted) {
    auto waiting = shared_->waiting.load();
    std::size_t count = 0;
    do {
        count = std::min(wanted, most_waiting - waiting);
    } while (!shared_->waiting.compare_exchange_weak(waiting, waiting + count));
    return count;
}

// `wait`: for the kill, of all together.
void EarlyRelease::post(std::vector<HeldProcess> processes, Duration wait, int priority) {
    const auto count = processes.size();
    if (count == 0) {
        return;
    }
    const auto taken = std::make_shared<std::vector<HeldProcess>>(std::move(processes));
    auto work = [shared = shared_, taken, wait] {
        const sys::SystemClock clock;
        auto asked = clock.monotonic();
        const auto until = asked + wait;
        for (auto& process : *taken) {
            // What was asked in time is asked once more, however long the thread was kept from it.
            while (!shared->release(process) && asked < until) asked = clock.monotonic();
            process.pidfd.reset();
            --shared->waiting;
        }
    };
    if (!lane_->post_urgent(std::move(work), priority)) {
        shared_->waiting -= count;
    }
}

}  // namespace evictd::act

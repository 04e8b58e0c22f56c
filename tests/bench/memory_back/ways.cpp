// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "ways.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <thread>

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/clock.hpp"
#include "sys/sched_deadline.hpp"

namespace evictd::bench {
namespace {

constexpr Duration patience = std::chrono::seconds(5);
constexpr Duration shortest_pause = std::chrono::microseconds(100);
constexpr Duration longest_spin = std::chrono::milliseconds(1);
constexpr int pause_per_look = 10;
constexpr int observer_priority = 20;
constexpr int release_priority = 10;
constexpr int victim_priority = 1;
constexpr std::uint64_t promised_ns = 1'000'000;
constexpr std::uint64_t period_ns = 20'000'000;
constexpr Duration raised_after = std::chrono::milliseconds(1);
constexpr int raised_shares = 262144;  // the most

const sys::SystemClock the_clock;

double milliseconds(Duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

void send_kill(const Victim& victim) { (void)::syscall(SYS_pidfd_send_signal, victim.pidfd(), SIGKILL, nullptr, 0U); }

// Threads that wait for the kill, as the agent's do.
class Releasers {
public:
    Releasers(const Way& way, const std::vector<Victim>& victims) : way_(way), victims_(victims) {
        for (int i = 0; i < way.threads; i++) threads_.emplace_back([this] { work(); });
        while (ready_ < way.threads) (void)::usleep(1000);
    }
    void go() {
        gone_ = true;
        gone_.notify_all();
    }
    [[nodiscard]] MonotonicTime join() {
        for (auto& thread : threads_) thread.join();
        return last_;
    }

private:
    void release(const Victim& victim) const {
        const auto until = the_clock.monotonic() + longest_spin;
        // EINVAL: there is no SIGKILL yet.
        while (::syscall(SYS_process_mrelease, victim.pidfd(), 0U) != 0 && errno == EINVAL && way_.early &&
               the_clock.monotonic() < until) {}
    }
    void work() {
        // The observer's policy is inherited.
        const sched_param priority{.sched_priority = way_.fifo ? release_priority : 0};
        if (::pthread_setschedparam(::pthread_self(), way_.fifo ? SCHED_FIFO : SCHED_OTHER, &priority) != 0) {
            die("real-time priority");
        }
        ++ready_;
        gone_.wait(false);
        const auto count = victims_.size();
        for (std::size_t i = way_.share == Share::same ? 0 : next_++; i < count;
             i = way_.share == Share::same ? i + 1 : next_++) {
            release(victims_[i]);
        }
        auto known = last_.load();
        for (const auto now = the_clock.monotonic(); known < now && !last_.compare_exchange_weak(known, now);) {}
    }

    const Way& way_;
    const std::vector<Victim>& victims_;
    std::atomic<int> ready_ = 0;
    std::atomic<bool> gone_ = false;
    std::atomic<std::size_t> next_ = 0;
    std::atomic<MonotonicTime> last_{};
    std::vector<std::jthread> threads_;
};

// False: refused. With CONFIG_RT_GROUP_SCHED a pod's cgroup has no real-time budget.
bool raise_victim(Raise raise, pid_t pid) {
    const sched_param priority{.sched_priority = victim_priority};
    const bool refused =
        (raise == Raise::nice && ::setpriority(PRIO_PROCESS, static_cast<id_t>(pid), -20) != 0) ||
        (raise == Raise::fifo && ::sched_setscheduler(pid, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) != 0) ||
        (raise == Raise::deadline && !sys::set_deadline(pid, promised_ns, period_ns));
    return !refused || errno == ESRCH;
}

void kill_all(const Way& way, const PodCgroups& cgroups, const std::vector<Victim>& victims) {
    if (way.cgroup_kill) return cgroups.kill_all();
    for (const auto& victim : victims) send_kill(victim);
}

bool has_ended(const Victim& victim) {
    pollfd ended{.fd = victim.pidfd(), .events = POLLIN, .revents = 0};
    return ::poll(&ended, 1, 0) == 1;
}

// What small processes do not live to see.
bool raise_all(Raise raise, const PodCgroups& cgroups, const std::vector<Victim>& victims) {
    std::this_thread::sleep_for(raised_after);
    if (raise == Raise::shares) cgroups.set_shares(raised_shares);
    return std::all_of(victims.begin(), victims.end(),
                       [&](const Victim& victim) { return has_ended(victim) || raise_victim(raise, victim.pid()); });
}

// Looks seldom enough to leave the CPUs to those it watches: it takes a tenth of one.
Times watch(const PodCgroups& cgroups, const std::vector<Victim>& victims, MonotonicTime begin, std::int64_t before) {
    Times times;
    while (times.gone == 0) {
        const auto look = the_clock.monotonic();
        const auto left = cgroups.usage();
        const auto now = the_clock.monotonic();
        const double since = milliseconds(std::min(now - begin, patience));
        if (now - begin > patience && times.to_1 == 0) {
            times.to_10 = times.to_10 > 0 ? times.to_10 : since;
            times.to_1 = since;
            cgroups.set_shares(filling_shares);
        }
        if (times.to_10 == 0 && left < before / 10) times.to_10 = since;
        if (times.to_1 == 0 && left < before / 100) times.to_1 = since;
        if (times.to_1 > 0 && std::all_of(victims.begin(), victims.end(), has_ended))
            times.gone = milliseconds(the_clock.monotonic() - begin);
        std::this_thread::sleep_for(std::max<Duration>(shortest_pause, pause_per_look * (now - look)));
    }
    return times;
}

}  // namespace

const std::vector<Way>& all_ways() {
    static const std::vector<Way> ways{
        {.name = "kill", .what = "SIGKILL and nothing else"},
        {.name = "release", .what = "one thread, one process after the other", .threads = 1},
        {.name = "biggest-first", .what = "the same, in that order", .threads = 1, .biggest_first = true},
        {.name = "two", .what = "two threads, each process by one", .threads = 2},
        {.name = "two-same", .what = "two threads, every process by both", .threads = 2, .share = Share::same},
        {.name = "four-same", .what = "four threads, every process by all", .threads = 4, .share = Share::same},
        {.name = "early", .what = "one thread, woken just before the kill", .threads = 1, .early = true},
        {.name = "early-biggest-first",
         .what = "the same, in that order",
         .threads = 1,
         .early = true,
         .biggest_first = true},
        {.name = "two-early", .what = "two such threads, each process by one", .threads = 2, .early = true},
        {.name = "fifo", .what = "one real-time thread", .threads = 1, .fifo = true},
        {.name = "two-fifo", .what = "two real-time threads, each process by one", .threads = 2, .fifo = true},
        {.name = "early-fifo",
         .what = "one real-time thread, woken just before the kill",
         .threads = 1,
         .fifo = true,
         .early = true},
        {.name = "two-early-fifo",
         .what = "two such threads, each process by one",
         .threads = 2,
         .fifo = true,
         .early = true},
        {.name = "four-early-fifo",
         .what = "four such threads, each process by one",
         .threads = 4,
         .fifo = true,
         .early = true},
        {.name = "kill+nice", .what = "no release; the victim at nice -20", .raise = Raise::nice},
        {.name = "kill+shares", .what = "no release; the victim's cgroup at full weight", .raise = Raise::shares},
        {.name = "kill+fifo", .what = "no release; the victim under SCHED_FIFO", .raise = Raise::fifo},
        {.name = "kill+deadline", .what = "no release; the victim under SCHED_DEADLINE", .raise = Raise::deadline},
        {.name = "release+fifo", .what = "release; the victim under SCHED_FIFO", .threads = 1, .raise = Raise::fifo},
        {.name = "release+deadline",
         .what = "release; the victim under SCHED_DEADLINE",
         .threads = 1,
         .raise = Raise::deadline},
        {.name = "early-fifo+shares",
         .what = "early-fifo; the victim's cgroup at full weight",
         .threads = 1,
         .fifo = true,
         .early = true,
         .raise = Raise::shares},
        {.name = "early-fifo+fifo",
         .what = "early-fifo; the victim under SCHED_FIFO",
         .threads = 1,
         .fifo = true,
         .early = true,
         .raise = Raise::fifo},
        {.name = "early-fifo+deadline",
         .what = "early-fifo; the victim under SCHED_DEADLINE",
         .threads = 1,
         .fifo = true,
         .early = true,
         .raise = Raise::deadline},
        {.name = "cgroup-kill", .what = "cgroup.kill and nothing else (v2)", .cgroup_kill = true},
        {.name = "cgroup-kill-release", .what = "cgroup.kill, one thread (v2)", .threads = 1, .cgroup_kill = true},
        {.name = "cgroup-kill-early-fifo",
         .what = "cgroup.kill, early-fifo (v2)",
         .threads = 1,
         .fifo = true,
         .early = true,
         .cgroup_kill = true},
    };
    return ways;
}

Times measure(const Way& way, const PodCgroups& cgroups, int shares, std::vector<Victim>& victims) {
    cgroups.set_shares(shares);
    const sched_param priority{.sched_priority = observer_priority};
    if (::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) != 0) die("real-time priority");
    Releasers releasers(way, victims);
    const auto before = cgroups.usage();
    const auto begin = the_clock.monotonic();
    if (way.early) releasers.go();
    kill_all(way, cgroups, victims);
    if (!way.early) releasers.go();
    const bool raised = way.raise == Raise::nothing || raise_all(way.raise, cgroups, victims);
    auto times = watch(cgroups, victims, begin, before);
    const auto last = releasers.join();
    times.refused = !raised;
    if (way.threads > 0) times.released = milliseconds(last - begin);
    const sched_param normal{};
    (void)::sched_setscheduler(0, SCHED_OTHER, &normal);
    return times;
}

}  // namespace evictd::bench

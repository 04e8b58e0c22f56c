// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What this host adds to any thread of the kill path: no agent, no BPF. A thread of evictd's priority, its memory
// locked, is woken, reads memory that it last read a moment ago, and computes for as long as a look and a choice take.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>

#include "parts.hpp"

namespace evictd::bench {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr int agent_priority = 10;  // evictd.realtimePriority
constexpr auto work_time = 250us;   // as a look at 110 pods and the choice
constexpr auto pause = 20ms;        // as from one eviction to the next
constexpr auto standstill = 1ms;    // longer than a look and a choice take

double microseconds(SteadyClock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

// Registers and arithmetic alone: no cache to miss, no memory to wait for.
std::uint64_t compute(std::uint64_t steps) {
    std::uint64_t value = steps | 1;
    for (std::uint64_t i = 0; i < steps; ++i) {
        value ^= value << 13U;
        value ^= value >> 7U;
        value ^= value << 17U;
    }
    return value;
}

// As many steps as take work_time where nothing interferes.
std::uint64_t steps_of_work() {
    constexpr std::uint64_t tried = 100'000;
    auto shortest = SteadyClock::duration::max();
    volatile std::uint64_t sink = 0;
    for (int i = 0; i < 50; ++i) {
        const auto begin = SteadyClock::now();
        sink = compute(tried);
        shortest = std::min(shortest, SteadyClock::now() - begin);
    }
    (void)sink;
    return static_cast<std::uint64_t>(static_cast<double>(tried) * microseconds(work_time) / microseconds(shortest));
}

// A cache line on each of many pages, each with the number of the next: each read depends on the one before.
class ScatteredLines {
public:
    ScatteredLines() : next_(pages * page) {
        std::vector<std::size_t> order(pages);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), std::mt19937(1));
        for (std::size_t i = 0; i < pages; ++i) next_[place(order[i])] = order[(i + 1) % pages];
    }
    [[nodiscard]] std::size_t walk() const {
        std::size_t at = 0;
        for (std::size_t i = 0; i < pages; ++i) at = next_[place(at)];
        return at;
    }

private:
    static constexpr std::size_t pages = 500;
    static constexpr std::size_t page = 4096 / sizeof(std::size_t);
    // Not the same line of each page: those would fall into few cache sets.
    static std::size_t place(std::size_t number) { return number * page + number % 64 * 8; }

    std::vector<std::size_t> next_;
};

struct Samples {
    std::vector<double> wake, memory, work, total;  // us
};

// In a thread of its own, which keeps the priority.
Status measure_rounds(int rounds, Samples& out) {
    const sched_param priority{.sched_priority = agent_priority};
    if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0)
        return fail(ErrorKind::not_permitted, "SCHED_FIFO", std::strerror(errno));
    const auto steps = steps_of_work();
    const ScatteredLines lines;
    volatile std::uint64_t sink = 0;
    for (int i = 0; i < rounds; ++i) {
        const auto due = SteadyClock::now() + pause;
        std::this_thread::sleep_until(due);
        const auto begin = SteadyClock::now();
        sink = lines.walk();
        const auto read = SteadyClock::now();
        sink = compute(steps);
        const auto end = SteadyClock::now();
        out.wake.push_back(microseconds(begin - due));
        out.memory.push_back(microseconds(read - begin));
        out.work.push_back(microseconds(end - read));
        out.total.push_back(microseconds(end - due));
    }
    (void)sink;
    return {};
}

// Of one CPU: a thread that is woken every 500 us comes later by this much.
struct Standstills {
    int count = 0;
    SteadyClock::duration longest{0};
    bool measured = false;
};

Standstills watch_cpu(unsigned cpu, std::chrono::milliseconds time) {
    Standstills seen;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    const sched_param priority{.sched_priority = agent_priority};
    if (sched_setaffinity(0, sizeof(only), &only) != 0 || sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
        return seen;
    }
    const auto end = SteadyClock::now() + time;
    for (auto due = SteadyClock::now(); due < end;) {
        due = SteadyClock::now() + 500us;
        std::this_thread::sleep_until(due);
        const auto late = SteadyClock::now() - due;
        seen.count += late > standstill ? 1 : 0;
        seen.longest = std::max(seen.longest, late);
    }
    seen.measured = true;
    return seen;
}

void measure_standstills(std::chrono::milliseconds time, Report& report) {
    std::vector<Standstills> seen(std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (unsigned cpu = 0; cpu < seen.size(); ++cpu) {
        threads.emplace_back([&seen, cpu, time] { seen[cpu] = watch_cpu(cpu, time); });
    }
    for (auto& thread : threads) thread.join();
    Standstills all;
    std::size_t cpus = 0;
    for (const auto& one : seen) {
        all.count += one.count;
        all.longest = std::max(all.longest, one.longest);
        cpus += one.measured ? 1 : 0;
    }
    if (cpus == 0) return report.unmeasured("standstills of a CPU", "no thread of that priority on any CPU");
    const double seconds = std::chrono::duration<double>(time).count() * static_cast<double>(cpus);
    report.told("times a second that a CPU stands still for 1 ms or longer",
                fmt::format("{:.1f}", all.count / seconds));
    report.told("the longest of " + std::to_string(all.count), say_microseconds(microseconds(all.longest)));
    report.figure("standstills of 1 ms or longer, of each CPU", "a second", {all.count / seconds});
}

}  // namespace

Status measure_baseline(const BaselineRun& run, Report& report) {
    report.heading("what this host adds to any thread: SCHED_FIFO, memory locked, no agent (" +
                   std::to_string(run.rounds) + " rounds; work takes 250 us undisturbed)");
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        return fail(ErrorKind::not_permitted, "mlockall", std::strerror(errno));
    Samples samples;
    Status measured;
    std::thread([&] { measured = measure_rounds(run.rounds, samples); }).join();
    if (measured) {
        report.spread_heading();
        (void)report.spread("wake", samples.wake);
        (void)report.spread("memory", samples.memory);
        (void)report.spread("work", samples.work);
        (void)report.spread("total", samples.total);
        measure_standstills(run.watched, report);
        report.line("evictd's latencies on this host include such delays");
    }
    (void)munlockall();
    return measured;
}

}  // namespace evictd::bench

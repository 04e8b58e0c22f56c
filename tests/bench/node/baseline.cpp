// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What this host adds to any thread of the kill path: no agent, no BPF. A thread of evictd's priority, its memory
// locked, is woken, reads memory that it last read a moment ago, and computes for as long as a look and a choice take.
// And how often a thread on each CPU is woken late, because something else has that CPU: on a virtual machine, the
// host.
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
constexpr auto late_from = 1ms;     // such a delay is longer than all an eviction takes

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

// How late a thread on that CPU that is due every 500 us was woken, in us, where it was late_from or more.
Result<std::vector<double>> late_wakeups(std::size_t cpu, std::chrono::milliseconds time) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    const sched_param priority{.sched_priority = agent_priority};
    if (sched_setaffinity(0, sizeof(only), &only) != 0 || sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
        return fail(ErrorKind::failed, "CPU " + std::to_string(cpu), std::strerror(errno));
    }
    std::vector<double> late;
    const auto end = SteadyClock::now() + time;
    for (auto now = SteadyClock::now(); now < end;) {
        const auto due = now + 500us;
        std::this_thread::sleep_until(due);
        now = SteadyClock::now();
        if (now - due >= late_from) late.push_back(microseconds(now - due));
    }
    return late;
}

// Of all CPUs at once.
void measure_late_wakeups(std::chrono::milliseconds time, Report& report) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        return report.unmeasured("late", std::string("sched_getaffinity: ") + std::strerror(errno));
    }
    std::vector<Result<std::vector<double>>> of_cpu(static_cast<std::size_t>(CPU_COUNT(&allowed)));
    std::vector<std::thread> threads;
    for (std::size_t cpu = 0; threads.size() < of_cpu.size(); ++cpu) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        auto& one = of_cpu[threads.size()];
        threads.emplace_back([&one, cpu, time] { one = late_wakeups(cpu, time); });
    }
    for (auto& thread : threads) thread.join();
    std::vector<double> late;
    for (const auto& one : of_cpu) {
        if (!one) return report.unmeasured("late", one.error().text());
        late.insert(late.end(), one->begin(), one->end());
    }
    const double seconds = std::chrono::duration<double>(time).count() * static_cast<double>(of_cpu.size());
    const double a_second = static_cast<double>(late.size()) / seconds;
    const double share = std::accumulate(late.begin(), late.end(), 0.0) / 1e6 / seconds;
    if (!late.empty()) (void)report.spread("late", late);
    report.told("late: a thread due every 500 us, 1 ms or more, a second", fmt::format("{:.1f}", a_second));
    report.told("... of the time", fmt::format("{:.1f} %", 100 * share));
    report.figure("late, a second and CPU", "1/s", {a_second});
    report.figure("late, of the time", "%", {100 * share});
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
    }
    (void)munlockall();  // before there is a thread, and a stack, for each CPU
    if (!measured) return measured;
    measure_late_wakeups(run.watched, report);
    report.line("evictd's latencies on this host include such delays");
    return {};
}

}  // namespace evictd::bench

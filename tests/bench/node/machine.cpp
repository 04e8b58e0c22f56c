// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the machine adds to any thread of the kill path: no agent, no BPF. A thread of evictd's priority, its memory
// locked, is woken, reads memory that it last read a moment ago, and computes for as long as a look and a choice take.
// What the host and its other guests take away shows in the 99th percentiles.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "parts.hpp"
#include "sys/fd.hpp"

namespace evictd::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int agent_priority = 10;  // evictd.realtimePriority
constexpr auto work_time = 250us;   // as a look at 110 pods and the choice
constexpr auto pause = 20ms;        // as from one eviction to the next

double microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

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
    auto shortest = Clock::duration::max();
    volatile std::uint64_t sink = 0;
    for (int i = 0; i < 50; ++i) {
        const auto begin = Clock::now();
        sink = compute(tried);
        shortest = std::min(shortest, Clock::now() - begin);
    }
    (void)sink;
    return static_cast<std::uint64_t>(static_cast<double>(tried) * microseconds(work_time) / microseconds(shortest));
}

// A line on each of many pages, each with the number of the next: none is read before the last one came.
class ColdLines {
public:
    ColdLines() : next_(pages * page) {
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
    // Not the same line of each page: those would share few places of a cache.
    static std::size_t place(std::size_t number) { return number * page + number % 64 * 8; }

    std::vector<std::size_t> next_;
};

struct Samples {
    std::vector<double> wake, memory, work, total;  // us
};

// In a thread of the agent's kind, until `rounds` are over. `woken_at`: when its waker wrote.
void be_woken(int event, int rounds, const std::atomic<Clock::time_point>& woken_at, Samples& out) {
    const sched_param priority{.sched_priority = agent_priority};
    (void)sched_setscheduler(0, SCHED_FIFO, &priority);
    const auto steps = steps_of_work();
    const ColdLines lines;
    volatile std::uint64_t sink = 0;
    for (int i = 0; i < rounds; ++i) {
        eventfd_t count = 0;
        if (eventfd_read(event, &count) != 0) return;
        const auto begin = Clock::now();
        sink = lines.walk();
        const auto read = Clock::now();
        sink = compute(steps);
        const auto end = Clock::now();
        const auto woken = woken_at.load();
        out.wake.push_back(microseconds(begin - woken));
        out.memory.push_back(microseconds(read - begin));
        out.work.push_back(microseconds(end - read));
        out.total.push_back(microseconds(end - woken));
    }
    (void)sink;
}

}  // namespace

Status measure_machine(int rounds, Report& report) {
    report.heading(
        "the machine itself: a thread of evictd's priority is woken, reads 500 lines and computes for 250 us (" +
        std::to_string(rounds) + " times)");
    sys::Fd event(eventfd(0, EFD_CLOEXEC));
    if (event.get() < 0) return fail(ErrorKind::failed, "eventfd", "cannot be had");
    (void)mlockall(MCL_CURRENT | MCL_FUTURE);
    std::atomic<Clock::time_point> woken_at{};
    Samples samples;
    std::thread thread(be_woken, event.get(), rounds, std::cref(woken_at), std::ref(samples));
    std::this_thread::sleep_for(500ms);  // it finds out how many steps take 250 us
    for (int i = 0; i < rounds; ++i) {
        std::this_thread::sleep_for(pause);
        woken_at = Clock::now();
        (void)eventfd_write(event.get(), 1);
    }
    thread.join();
    (void)munlockall();
    report.spread_heading();
    (void)report.spread("wake", samples.wake);
    (void)report.spread("memory", samples.memory);
    (void)report.spread("work", samples.work);
    (void)report.spread("total", samples.total);
    return {};
}

}  // namespace evictd::bench

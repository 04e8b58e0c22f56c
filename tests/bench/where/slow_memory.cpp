// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// When does memory become slow for every process? Reads a cache line of each of 500 locked pages every 20 ms, and says
// when that takes more than 10 times the usual and 1 ms: a hypervisor has dropped its mapping of them, and restores it
// at each access. Prints lines "BEGIN END", CLOCK_MONOTONIC in seconds, until SIGTERM. With SCHED_FIFO, below evictd's
// priority. Exit: 2 it may not.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/mman.h>

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t pages = 500;
constexpr std::size_t page = 4096;
constexpr std::size_t line = 64;
constexpr auto between = 20ms;
constexpr auto least = Clock::duration(1ms);

// Not the same line of each page: those would fall into few cache sets.
Clock::duration read_lines(const std::vector<char>& memory) {
    unsigned sum = 0;
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < pages; ++i) {
        const volatile char& one = memory[i * page + i % (page / line) * line];
        sum += one;
    }
    (void)sum;
    return Clock::now() - begin;
}

Clock::duration usual(const std::vector<char>& memory) {
    std::vector<Clock::duration> times(50);
    for (auto& time : times) {
        std::this_thread::sleep_for(between);
        time = read_lines(memory);
    }
    std::nth_element(times.begin(), times.begin() + 25, times.end());
    return times[25];
}

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

int main() {
    const sched_param priority{.sched_priority = 1};
    const std::vector<char> memory(pages * page, 1);
    if (mlockall(MCL_CURRENT) != 0 || sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
        std::perror("slow_memory: SCHED_FIFO and locked memory");
        return 2;
    }
    const auto most = std::max(10 * usual(memory), least);
    for (;;) {
        std::this_thread::sleep_for(between);
        const auto begin = Clock::now().time_since_epoch();
        const auto took = read_lines(memory);
        if (took < most) continue;
        std::printf("%.6f %.6f\n", seconds(begin), seconds(begin + took));
        std::fflush(stdout);
    }
}

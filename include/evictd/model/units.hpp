// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Units as types: bytes, amounts in a signal's own unit, and the two kinds of time. Nothing here reads a clock.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace evictd {

struct Bytes {
    std::int64_t value = 0;

    friend constexpr auto operator<=>(Bytes, Bytes) = default;
    friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.value + b.value}; }
    friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.value - b.value}; }
    constexpr Bytes& operator+=(Bytes other) {
        value += other.value;
        return *this;
    }
};

constexpr Bytes operator""_B(unsigned long long n) { return {static_cast<std::int64_t>(n)}; }
constexpr Bytes operator""_KiB(unsigned long long n) { return {static_cast<std::int64_t>(n) << 10}; }
constexpr Bytes operator""_MiB(unsigned long long n) { return {static_cast<std::int64_t>(n) << 20}; }
constexpr Bytes operator""_GiB(unsigned long long n) { return {static_cast<std::int64_t>(n) << 30}; }

// A quantity in the unit of the signal it belongs to: bytes, inodes or process IDs.
struct Amount {
    std::int64_t value = 0;
    friend constexpr auto operator<=>(Amount, Amount) = default;
};

using Duration = std::chrono::nanoseconds;

// CLOCK_MONOTONIC, the clock of bpf_ktime_get_ns(): kernel timestamps and ours compare directly.
struct MonotonicClock {
    using duration = Duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<MonotonicClock, duration>;
    static constexpr bool is_steady = true;
};
using MonotonicTime = MonotonicClock::time_point;

// CLOCK_REALTIME: for people and for Kubernetes objects, never for deciding how long something lasted.
using WallTime = std::chrono::sys_time<Duration>;

}  // namespace evictd

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Time lost to stalls: tasks that could run wait because memory, a disk or a CPU is not to be had. `some`: at
// least one does; `full`: all that could run do, so that nothing gets done. As the kernel's pressure files define them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "evictd/model/names.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

enum class StallResource : std::uint8_t { memory, io, cpu };
inline constexpr std::size_t stall_resource_count = 3;
template <>
struct Names<StallResource> {
    static constexpr Words<stall_resource_count> words{"memory", "io", "cpu"};
};

enum class StallKind : std::uint8_t { some, full };
template <>
struct Names<StallKind> {
    static constexpr Words<2> words{"some", "full"};
};

// Whose tasks: the node's, or each pod's by itself.
enum class StallScope : std::uint8_t { node, pod };
template <>
struct Names<StallScope> {
    static constexpr Words<2> words{"node", "pod"};
};

// The windows slide by a tenth of a second.
enum class StallWindow : std::uint8_t { tenth, second, ten_seconds };
inline constexpr std::size_t stall_window_count = 3;
constexpr Duration length(StallWindow window) {
    constexpr std::array<Duration, stall_window_count> lengths{std::chrono::milliseconds(100), std::chrono::seconds(1),
                                                               std::chrono::seconds(10)};
    return lengths[static_cast<std::size_t>(window)];
}
template <>
struct Names<StallWindow> {
    static constexpr Words<stall_window_count> words{"100ms", "1s", "10s"};
};

// Lost in the last window of each length.
using StallTimes = std::array<Duration, stall_window_count>;

// What a resource cost the node. None: it cannot be had here.
struct NodeStall {
    StallResource resource = StallResource::memory;
    std::optional<StallTimes> some;
    std::optional<StallTimes> full;
};

// What waiting for memory cost a pod, and how much of the reclaim work its own tasks did: who needs memory has to make
// room for it.
struct PodStall {
    StallTimes some{};
    Bytes reclaimed;  // in the last 10 s
    // Of these, what was not reclaimed at a limit of its own or of its containers. None: it is not known.
    std::optional<Bytes> reclaimed_for_node{};
    std::optional<StallTimes> full{};        // none: nobody asked for it, or it cannot be had here
    std::optional<MonotonicTime> read_at{};  // of what came from files, which are not read at every look
};

// A threshold on stalls. A grace period of zero is what makes it hard.
struct StallThreshold {
    StallResource resource = StallResource::memory;
    StallKind kind = StallKind::some;
    StallScope scope = StallScope::node;
    StallWindow window = StallWindow::second;
    std::int32_t share = 0;  // of the window, in hundredths of a percent: met when so much or more was lost
    Duration grace_period{0};
    [[nodiscard]] bool hard() const { return grace_period == Duration::zero(); }
    // What our own programs count, for each pod and the node. All else is the kernel's pressure files' to say.
    [[nodiscard]] bool counted() const { return resource == StallResource::memory && kind == StallKind::some; }
    friend bool operator==(const StallThreshold&, const StallThreshold&) = default;
};

// A whole, in StallThreshold's unit.
inline constexpr std::int32_t whole_share = 10'000;

// How long tasks have to stall for the threshold to be met.
constexpr Duration line_of(const StallThreshold& threshold) {
    // A tenth of a second has 10^8 ns: every share of it is a whole number of them.
    return length(threshold.window) / whole_share * threshold.share;
}

}  // namespace evictd

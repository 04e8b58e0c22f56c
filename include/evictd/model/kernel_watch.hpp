// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the kernel is to watch for the agent: a part of every Decision.
#pragma once

#include <optional>
#include <vector>

#include "evictd/model/memory_available.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/stall.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

// A line to watch: the signal's available bytes against it, both directions.
struct Watermark {
    Signal signal = Signal::memory_available;
    Bytes threshold;
    friend bool operator==(const Watermark&, const Watermark&) = default;
};

// The node's tasks, or each pod's, stalled on memory for `lost` or longer within the window.
struct StallLine {
    StallScope scope = StallScope::node;
    StallWindow window = StallWindow::second;
    Duration lost{0};
    friend bool operator==(const StallLine&, const StallLine&) = default;
};

struct KernelWatch {
    // Crossing one may change what is decided. None: those that are watched stay, because a signal could not be read.
    std::optional<std::vector<Watermark>> lines;
    std::vector<Watermark> approaches;  // above those: from there on the agent gets ready
    std::vector<StallLine> stall_lines;
    MemoryAvailable counted = MemoryAvailable::kubelet;  // how what is available is counted for the lines
    bool exits = false;  // a victim may end soon: its cgroup is reported at once when it empties
};

}  // namespace evictd

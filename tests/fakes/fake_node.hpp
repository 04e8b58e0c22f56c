// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The node's memory as a test says it is.
#pragma once

#include <stdexcept>

#include "evictd/port/node_memory.hpp"
#include "fakes/fake_clock.hpp"

namespace evictd::fakes {

struct FakeNode final : port::NodeMemory {
    Result<port::NodeMemoryReading> read(bool with_cpu_lists) override {
        asked_for_cpu_lists = with_cpu_lists;
        if (throws) throw std::runtime_error("expected by the test");
        if (broken) return fail(ErrorKind::failed, "/proc/meminfo", "unreadable");
        if (clock != nullptr) clock->advance(takes);
        return reading;
    }
    port::NodeMemoryReading reading{.total = 8_GiB, .available = 3_GiB, .reclaimable = 4_GiB};
    bool broken = false;
    bool throws = false;
    bool asked_for_cpu_lists = false;
    FakeClock* clock = nullptr;  // advanced by `takes` with each reading
    Duration takes{0};
};

}  // namespace evictd::fakes

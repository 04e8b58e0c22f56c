// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The node's stalls as the kernel's own pressure files count them (/proc/pressure): every resource, some and full. The
// files give totals; the windows are made of what was read at earlier looks, so they are as sharp as looks are
// frequent.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "evictd/model/result.hpp"
#include "evictd/model/stall.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {

// "some ... total=" and "full ... total=" of a pressure file. None: the file has no such line.
struct PressureTotals {
    std::optional<Duration> some;
    std::optional<Duration> full;
};
[[nodiscard]] PressureTotals parse_pressure(std::string_view text);

// Totals over time, and what was lost within the last windows.
class StallHistory {
public:
    void add(MonotonicTime at, Duration total);
    // None before the second total. A window that reaches back beyond the first counts what is known of it.
    [[nodiscard]] std::optional<StallTimes> lost() const;

private:
    struct Sample {
        MonotonicTime at;
        Duration total;
    };
    [[nodiscard]] Duration total_at(MonotonicTime at) const;
    std::deque<Sample> samples_;  // oldest first; no more than reach back over the longest window
};

class PressureFiles {
public:
    // Opens /proc/pressure/*; what a kernel without PSI lacks is left out.
    PressureFiles();
    [[nodiscard]] bool available() const { return files_.front().has_value(); }
    // Reads it. None: it cannot be read (a kernel with psi=0 refuses that).
    [[nodiscard]] std::optional<NodeStall> read(StallResource resource, MonotonicTime now);

private:
    struct File {
        sys::Fd fd;
        StallHistory some;
        StallHistory full;
    };
    std::array<std::optional<File>, stall_resource_count> files_;
    std::string text_;
};

}  // namespace evictd::kernel

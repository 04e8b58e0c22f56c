// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The answer of `evictd npd`: node-problem-detector's custom plugin protocol over the status document and the events of
// the last minutes. Pure; asking the agent, and giving up in time, are cli/npd's. Not for people: `evictd status` is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "event.hpp"
#include "evictd/model/names.hpp"
#include "evictd/model/units.hpp"

namespace evictd::codec {

// What can be asked for. The first three are the kubelet's conditions, by evictd's own thresholds.
enum class NpdCondition : std::uint8_t {
    memory_pressure,
    disk_pressure,
    pid_pressure,
    memory_stall,
    io_stall,
    cpu_stall,
    oom_killing,
};

// The exit status of a custom plugin. node-problem-detector takes any other one for unknown.
enum class NpdStatus : std::uint8_t { ok = 0, problem = 1, unknown = 2 };

struct NpdAnswer {
    NpdStatus status = NpdStatus::unknown;
    std::string line;  // without its newline
};

// The events with event_reason() of the last `window`, oldest first.
struct NpdEvents {
    Duration window{0};
    std::size_t count = 0;
    std::string last;  // whose the last one is: npd_subject()
};

}  // namespace evictd::codec

namespace evictd {

template <>
struct Names<codec::NpdCondition> {
    static constexpr Words<7> words{"MemoryPressure", "DiskPressure", "PIDPressure", "MemoryStall",
                                    "IOStall",        "CPUStall",     "OOMKilling"};
};

}  // namespace evictd

namespace evictd::codec {

// The reason of the events that make the condition a problem beside what holds now; empty: none does.
[[nodiscard]] std::string_view event_reason(NpdCondition condition);

// A few words for an event: its pod, or its message.
[[nodiscard]] std::string npd_subject(const Event& event);

// `status`: the agent's status document, asked for after the events. Unknown where the document is too old, where a
// signal was not measured, or where a thread of the agent hangs: a condition that was not looked at is not false.
[[nodiscard]] NpdAnswer npd_answer(NpdCondition condition, std::string_view status, const NpdEvents& events,
                                   WallTime now);

// What goes to stdout: one printable line, `longest` bytes at most and the newline.
[[nodiscard]] std::string npd_line(const NpdAnswer& answer, std::size_t longest);

}  // namespace evictd::codec

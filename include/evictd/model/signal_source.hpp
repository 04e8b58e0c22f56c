// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is known of a signal source, for doctor and status: which program or file feeds it, or what is lost without it.
#pragma once

#include <optional>
#include <string>

#include "evictd/model/units.hpp"

namespace evictd {

struct SourceRow {
    std::string hook;    // "watermark", "usage", "oom", "cgroup_life", "memcg"
    std::string chosen;  // "bpf_timer", "tp_btf/mark_victim", ...; empty: none
    bool fallback = false;
    std::string detail;  // why the better ones were not taken; what is lost
};

// A server that pods come from, for people.
struct PodSourceState {
    std::string name;
    std::optional<MonotonicTime> heard_at;  // when it last said something; none: not yet
    std::string fault;                      // why what is known of it may be out of date; empty: it is up to date
};

}  // namespace evictd

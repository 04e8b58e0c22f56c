// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is known of a signal source, for doctor and status: which program or file feeds it, or what is lost without it.
#pragma once

#include <string>

namespace evictd {

struct SourceRow {
    std::string hook;    // "watermark", "usage", "oom", "cgroup_life", "memcg"
    std::string chosen;  // "bpf_timer", "tp_btf/mark_victim", ...; empty: none
    bool fallback = false;
    std::string detail;  // why the better ones were not taken; what is lost
};

}  // namespace evictd

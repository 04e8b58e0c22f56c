// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The maps that are pinned for people and their tools, by name and kind: what a later agent may remove.
#pragma once

#include <array>

#include <linux/bpf.h>

namespace evictd::kernel {

struct PinnedMap {
    const char* name;  // in bpf/, and of its file
    bpf_map_type type;
};

[[nodiscard]] constexpr std::array<PinnedMap, 10> pinned_maps() {
    return {{{"thresholds", BPF_MAP_TYPE_ARRAY},
             {"settings", BPF_MAP_TYPE_ARRAY},
             {"drops", BPF_MAP_TYPE_ARRAY},
             {"timer", BPF_MAP_TYPE_ARRAY},
             {"history", BPF_MAP_TYPE_ARRAY},
             {"pods", BPF_MAP_TYPE_HASH},
             {"sockets", BPF_MAP_TYPE_HASH},
             {"events", BPF_MAP_TYPE_RINGBUF},
             {"stall", BPF_MAP_TYPE_HASH},
             {"stall_lines", BPF_MAP_TYPE_ARRAY}}};
}

}  // namespace evictd::kernel

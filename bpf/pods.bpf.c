/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What does the agent think of every pod? A map for bpftool and for other programs; the agent fills it after each look.
 */
#include "lib/kernel_types.h"

#include <bpf/bpf_helpers.h>

#include "evictd/abi/settings.h"

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16384);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, __u64);
    __type(value, struct evictd_pod);
} pods SEC(".maps");

char LICENSE[] SEC("license") = "Dual BSD/GPL";

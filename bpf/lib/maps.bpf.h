/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* The maps that programs share: weak, as every program file defines them and the linker keeps one. All are pinned, so
 * that bpftool shows what the agent works with. */
#ifndef EVICTD_BPF_MAPS_H
#define EVICTD_BPF_MAPS_H

#include "lib/kernel_types.h"

#include <bpf/bpf_helpers.h>

#include "evictd/abi/settings.h"

/* 256 KiB hold 900 cgroup records, the largest kind: a node starting all its pods at once while the agent is busy for
 * 100 ms. Half of it would still do; ten times as much would only hide an agent that does not keep up. */
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 256 * 1024);
} events __weak SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct evictd_drops);
} drops __weak SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct evictd_settings);
} settings __weak SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, EVICTD_MAX_PODS);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, __u64); /* the pod's cgroup id */
    __type(value, struct evictd_sockets);
} sockets __weak SEC(".maps");

static const __u32 evictd_zero = 0;

static __always_inline struct evictd_settings* get_settings(void) {
    return bpf_map_lookup_elem(&settings, &evictd_zero);
}

#endif

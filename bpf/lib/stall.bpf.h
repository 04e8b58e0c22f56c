/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* Counting the time with at least one task stalled: a union of intervals, not their sum. One word holds since
 * when and how many, so that several CPUs can change both at once without a lock, which tracing programs may not take.
 */
#ifndef EVICTD_BPF_STALL_H
#define EVICTD_BPF_STALL_H

#include "lib/kernel_types.h"

#include "lib/cgroup.bpf.h"
#include "lib/maps.bpf.h"

/* Entries are made by the agent, not here: a stall begins where there is no memory to make one of. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16385); /* as many as "pods", and the node */
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, __u64);
    __type(value, struct evictd_stall);
} stall __weak SEC(".maps");

/* A compare-and-swap fails only when another CPU's has just succeeded. */
#define SWAP_TRIES 32

#define TASK_BITS 16
#define TASK_MASK ((1ULL << TASK_BITS) - 1)

static __always_inline struct evictd_stall* node_stall(void) {
    __u64 node = 0;
    return bpf_map_lookup_elem(&stall, &node);
}

/* 0: it could not be counted, and must not be uncounted. Global, as the next one: verified once and not at each call,
 * which for older verifiers is the difference between a second and minutes. */
__weak __noinline int count_stall(struct evictd_stall* of, __u64 now_us) {
    if (!of) return 0;
    __u64 seen = of->stalling;
    for (int i = 0; i < SWAP_TRIES; i++) {
        if ((seen & TASK_MASK) == TASK_MASK) return 0;
        __u64 next = seen & TASK_MASK ? seen + 1 : (now_us << TASK_BITS) + 1;
        __u64 found = __sync_val_compare_and_swap(&of->stalling, seen, next);
        if (found == seen) {
            __sync_fetch_and_add(&of->stalls, 1);
            return 1;
        }
        seen = found;
    }
    return 0;
}

/* Whoever takes the last task away owns the interval and adds it. */
__weak __noinline int uncount_stall(struct evictd_stall* of, __u64 now_us) {
    if (!of) return 0;
    __u64 seen = of->stalling;
    for (int i = 0; i < SWAP_TRIES; i++) {
        __u64 tasks = seen & TASK_MASK;
        if (!tasks) return 0; /* the entry is another one under the same id */
        __u64 found = __sync_val_compare_and_swap(&of->stalling, seen, tasks > 1 ? seen - 1 : 0);
        if (found == seen) {
            __u64 since_us = seen >> TASK_BITS;
            if (tasks == 1 && now_us > since_us) __sync_fetch_and_add(&of->total_ns, (now_us - since_us) * 1000);
            return 1;
        }
        seen = found;
    }
    return 0;
}

#endif

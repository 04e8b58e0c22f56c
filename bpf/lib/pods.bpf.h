/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* What the agent thinks of every pod, by its cgroup: for bpftool and other programs, and for programs here that must
 * know whether a cgroup is a pod's. The agent fills the map after each look. */
#ifndef EVICTD_BPF_PODS_H
#define EVICTD_BPF_PODS_H

#include "lib/kernel_types.h"

#include <bpf/bpf_helpers.h>

#include "evictd/abi/settings.h"
#include "lib/cgroup.bpf.h"

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, EVICTD_MAX_PODS);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, __u64);
    __type(value, struct evictd_pod);
} pods __weak SEC(".maps");

/* Deeper than any runtime nests what is in a container. */
#define POD_SEARCH_DEPTH 16

/* The pod's cgroup id and, in `container`, the cgroup directly below it on the way to `memcg`: NULL if `memcg` is the
 * pod's own. 0: no pod of ours; then `container` is `memcg` itself. */
static __always_inline __u64 find_pod(struct mem_cgroup* memcg, struct mem_cgroup** container) {
    struct mem_cgroup *at = memcg, *below = 0;
    for (int depth = 0; depth < POD_SEARCH_DEPTH && at; depth++) {
        __u64 id = memcg_id(at);
        if (bpf_map_lookup_elem(&pods, &id)) {
            *container = below;
            return id;
        }
        below = at;
        at = memcg_parent(at);
    }
    *container = memcg;
    return 0;
}

#endif

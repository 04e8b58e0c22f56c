/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* What a pass reads of a cgroup lies in some 15 cache lines. After a hog has run, few of them are in the CPU's caches,
 * and the CPU would wait for each where it is used. BPF cannot prefetch, but loads that do not need each other's
 * results run together. So most of these lines are loaded ahead. struct mem_cgroup, which has the addresses of the
 * rest, is loaded two cgroups before it is entered; the rest is loaded one before. Lines that are left out, such as
 * those of other NUMA nodes, are loaded where they are used. */
#ifndef EVICTD_BPF_FETCH_H
#define EVICTD_BPF_FETCH_H

#include "lib/kernel_types.h"

#include "lib/lru.bpf.h"

/* usage.bpf.c: of most cgroups no more is read than whether their usage changed. */
extern __u32 keep_unchanged;

#define CACHE_LINE 64 /* or twice as much: then some lines are loaded twice */

/* For its address. */
#define FETCH(base, member) ((void)LOAD(base, member))

/* What walk_on() will most likely enter after `at`. It may be another one, or none: at the end of two levels, below a
 * pod that is counted whole, and where the lists change meanwhile. Only to be fetched.
 * walk_on() on a copy of the walk would say it too, and the verifier would walk through a quarter more instructions. */
static __always_inline struct mem_cgroup* next_on_walk(struct cgroup_subsys_state* at) {
    void* children = (void*)at + bpf_core_field_offset(struct cgroup_subsys_state, children);
    void* next = LOAD(at, children.next);
    if (next == children) {
        struct cgroup_subsys_state* parent = LOAD(at, parent);
        next = LOAD(at, sibling.next);
        if (next == (void*)parent + bpf_core_field_offset(struct cgroup_subsys_state, children))
            next = LOAD(parent, sibling.next);
    }
    return next - bpf_core_field_offset(struct cgroup_subsys_state, sibling);
}

static __always_inline void fetch_usage(struct mem_cgroup* memcg) {
    FETCH(memcg, css.flags);
    FETCH(memcg, css.serial_nr);
    FETCH(memcg, css.parent);
    FETCH(memcg, memory.usage.counter);
}

static __always_inline void fetch_memcg(struct mem_cgroup* memcg) {
    FETCH(memcg, css.cgroup);
    FETCH(memcg, memory.max);
    (void)LOAD_POINTER(memcg, struct mem_cgroup, nodeinfo, 0);
}

static __always_inline void fetch_node(struct mem_cgroup_per_node* node) {
    void* lists = classic_lists(node);
    __u32 size = bpf_core_enum_value(enum zone_type, __MAX_NR_ZONES) * NR_LRU_LISTS * sizeof(long);
    for (__u32 at = 0; at < MAX_ZONES * NR_LRU_LISTS * sizeof(long) && at < size; at += CACHE_LINE)
        load(lists + at, sizeof(long));
    if (size) load(lists + size - sizeof(long), sizeof(long)); /* in the middle of a line they may end in one more */
    if (bpf_core_field_exists(struct mem_cgroup_per_node, lruvec.lrugen.enabled)) FETCH(node, lruvec.lrugen.enabled);
}

/* Loads struct mem_cgroup of the cgroup after the next, and the rest of the next one. At the end of a list that is
 * none: the fields of a list's head are taken for addresses, what is loaded is not used, and a load that faults yields
 * 0. To compare css.ss first took a fifteenth of the pass. Of `memcg` itself only the line with its id is left: a third
 * step ahead for it was slower. Where a read is a call and not a load all this would cost more than it gains. Global,
 * hence verified once. */
__weak __noinline int fetch(__u64 memcg_address) {
    struct mem_cgroup* memcg = (void*)memcg_address;
    if (!has_rdonly_cast) return 0;
    struct mem_cgroup* next = next_on_walk(&memcg->css);
    struct mem_cgroup* after = next_on_walk(&next->css);
    fetch_usage(after);
    if (keep_unchanged) return 0;
    fetch_memcg(after);
    struct kernfs_node* name = LOAD(LOAD(memcg, css.cgroup), kn);
    FETCH(name, id);
    struct cgroup* cgroup = LOAD(next, css.cgroup);
    FETCH(cgroup, kn);
    FETCH(cgroup, level);
    FETCH(cgroup, nr_descendants);
    fetch_node(LOAD_POINTER(next, struct mem_cgroup, nodeinfo, 0));
    return 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* How many pages has a memory cgroup on which LRU list? Exact at any moment, where memory.stat needs a flush first. */
#ifndef EVICTD_BPF_LRU_H
#define EVICTD_BPF_LRU_H

#include "lib/kernel_types.h"

#include "lib/cgroup.bpf.h"

extern const volatile __u32 numa_nodes; /* nr_node_ids: how many nodeinfo[] a memory cgroup has */

#define MAX_NUMA_NODES 64 /* larger machines exist (1024), but not as Kubernetes nodes */
#define MAX_ZONES 8       /* MAX_NR_ZONES is 3 to 6 */
#define MAX_NR_GENS 4     /* include/linux/mmzone.h, since 6.1 */

struct lru_sizes {
    __u64 list[NR_LRU_LISTS];
}; /* pages */

/* Where the arrays begin. Never inlined: the compiler would compute all offsets up front, also those of members that
 * BTF does not have in this form, and the verifier refuses a program that gets there. */
static __attribute__((noinline)) __u32 deep_lists(void) {
    return bpf_core_field_offset(struct mem_cgroup_per_node___deep, lru_zone_size);
}
static __attribute__((noinline)) __u32 flat_lists(void) {
    return bpf_core_field_offset(struct mem_cgroup_per_node, lru_zone_size);
}
static __attribute__((noinline)) __u32 deep_generations(void) {
    return bpf_core_field_offset(struct mem_cgroup_per_node___deep, lruvec.lrugen.nr_pages);
}
static __attribute__((noinline)) __u32 flat_generations(void) {
    return bpf_core_field_offset(struct mem_cgroup_per_node, lruvec.lrugen.nr_pages);
}

static __always_inline void* classic_lists(struct mem_cgroup_per_node* node) {
    bool deep = bpf_core_field_exists(struct mem_cgroup_per_node___deep, lru_zone_size);
    return (void*)node + (deep ? deep_lists() : flat_lists());
}

static __always_inline void add_classic_lists(struct mem_cgroup_per_node* node, struct lru_sizes* sizes) {
    void* at = classic_lists(node);
    __u32 zones = bpf_core_enum_value(enum zone_type, __MAX_NR_ZONES);
    for (__u32 zone = 0; zone < MAX_ZONES && zone < zones; zone++) {
        long pages[NR_LRU_LISTS] = {};
        load_longs(pages, at + zone * NR_LRU_LISTS * sizeof(long), NR_LRU_LISTS, NR_LRU_LISTS);
        for (int list = 0; list < NR_LRU_LISTS; list++) sizes->list[list] += pages[list];
    }
}

/* Compiled in does not mean in use, and then all generations are empty: reading them is most of what a pass costs. */
static __always_inline bool has_generations(struct mem_cgroup_per_node* node) {
    if (!bpf_core_field_exists(struct lruvec, lrugen)) return false;
    return !bpf_core_field_exists(struct mem_cgroup_per_node, lruvec.lrugen.enabled) ||
           LOAD(node, lruvec.lrugen.enabled);
}

/* With the multi-generation LRU the pages are not on the classic lists, and lru_zone_size does not count them. As
 * lru_gen_is_active() has it, the two youngest generations are the active ones. Never inlined, for the same reason. */
static __attribute__((noinline)) void add_generations(struct mem_cgroup_per_node* node, struct lru_sizes* sizes) {
    bool deep = bpf_core_field_exists(struct mem_cgroup_per_node___deep, lruvec.lrugen.nr_pages);
    void* at = (void*)node + (deep ? deep_generations() : flat_generations());
    __u32 zones = bpf_core_enum_value(enum zone_type, __MAX_NR_ZONES);
    __u32 read = zones < MAX_ZONES ? zones : MAX_ZONES;
    unsigned long youngest = LOAD(node, lruvec.lrugen.max_seq);
    for (__u32 i = 0; i < MAX_NR_GENS * 2; i++) { /* nr_pages[generation][anon, file][zone] */
        unsigned long age = (youngest - i / 2) % MAX_NR_GENS;
        long pages[MAX_ZONES] = {}, sum = 0;
        load_longs(pages, at + i * zones * sizeof(long), read, MAX_ZONES);
        for (__u32 zone = 0; zone < MAX_ZONES; zone++) sum += pages[zone] > 0 ? pages[zone] : 0;
        if (i % 2)
            sizes->list[age < 2 ? LRU_ACTIVE_FILE : LRU_INACTIVE_FILE] += sum;
        else
            sizes->list[age < 2 ? LRU_ACTIVE_ANON : LRU_INACTIVE_ANON] += sum;
    }
}

/* Adds the memory cgroup's own pages by list, its children's not included. Global, hence verified once and not at each
 * call; such a function takes a kernel address as a number. */
__weak __noinline int add_lru_sizes(__u64 memcg_address, struct lru_sizes* sizes) {
    if (!sizes) return 0;
    for (__u32 nid = 0; nid < MAX_NUMA_NODES && nid < numa_nodes; nid++) {
        struct mem_cgroup_per_node* node = LOAD_POINTER(memcg_address, struct mem_cgroup, nodeinfo, nid);
        if (!node) continue;
        add_classic_lists(node, sizes);
        if (has_generations(node)) add_generations(node, sizes);
    }
    return 0;
}

#endif

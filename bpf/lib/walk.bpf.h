/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* Step by step through a tree of cgroups, as css_next_descendant_pre() goes, removed ones included: the memory
 * controller keeps those in its tree for as long as anything is charged to them. A pod with too many cgroups is one
 * step. What is counted on the way is the caller's.
 *
 * The caller is under rcu_read_lock(), and needs no lock besides, as css_next_descendant_pre() needs none: a cgroup
 * that is taken off its list meanwhile still points to its next, and neither is freed before the walk is over. What is
 * there from beginning to end is entered once. */
#ifndef EVICTD_BPF_WALK_H
#define EVICTD_BPF_WALK_H

#include "lib/kernel_types.h"

#include "lib/cgroup.bpf.h"
#include "lib/lru.bpf.h"
#include "lib/pods.bpf.h"

struct walk {
    struct cgroup_subsys_state *root, *at;
    __u32 depth; /* of `at` below the root */
    bool seen;   /* everything below `at` is done */
};

/* Each cgroup is entered once and, if it has any below it, returned to once. */
#define WALK_STEPS (2 * EVICTD_MAX_CGROUPS)

/* False, but the verifier does not know: kernels before 6.7 verify a callback once, with the values of its first call,
 * and cut away every branch that a known one rules out. */
extern volatile __u32 seen_at_first; /* not bool: the skeleton is C++ too */

static __always_inline struct walk walk_from(void* css) {
    return (struct walk){.root = css, .at = css, .depth = seen_at_first, .seen = seen_at_first};
}

/* Of the pods' root. */
extern struct mem_cgroup* pods_memcg;

/* The pods' cgroup may be gone, or be another one: until the agent has found it there is nothing to read. */
static __always_inline bool pods_root_alive(const struct evictd_settings* settings) {
    return pods_memcg && settings->pods_root_id && memcg_id(pods_memcg) == settings->pods_root_id &&
           !memcg_dying(pods_memcg);
}

/* Capacity minus working set, as the kubelet has it. `cache`: bytes of file pages that do not count as used. */
static __always_inline __u64 pods_available(const struct evictd_settings* settings, __u64 cache) {
    __u64 limit = memcg_max(pods_memcg), usage = memcg_usage(pods_memcg);
    if (limit == NO_LIMIT) limit = settings->node_capacity;
    __u64 used = usage > cache ? usage - cache : 0;
    return limit > used ? limit - used : 0;
}

/* To the next step: down if `at` was just entered, else on or up. 1: the walk is over. */
static __always_inline long walk_on(struct walk* walk) {
    struct cgroup_subsys_state* at = walk->at;
    __u64 sibling_at = bpf_core_field_offset(struct cgroup_subsys_state, sibling);
    __u64 children_at = bpf_core_field_offset(struct cgroup_subsys_state, children);
    if (!walk->seen) {
        struct list_head* child = LOAD(at, children.next);
        if (!child) return 1;
        if ((void*)child != (void*)at + children_at) {
            walk->at = (void*)child - sibling_at;
            walk->depth++;
            return 0;
        }
    }
    if (at == walk->root) return 1;
    struct cgroup_subsys_state* parent = LOAD(at, parent);
    struct list_head* next = LOAD(at, sibling.next);
    if (!parent || !next) return 1;
    walk->seen = (void*)next == (void*)parent + children_at;
    walk->at = walk->seen ? parent : (void*)next - sibling_at;
    if (walk->seen) walk->depth--;
    return 0;
}

/* Whether it is a pod, or a container of one, that has more cgroups below it than are read one by one. What lies two
 * levels below the pods' root is a pod of a QoS class or a container; directly below it are pods and classes, which
 * only the agent can tell apart. Global, hence verified once. */
__weak __noinline int is_counted_whole(__u64 memcg_address, __u32 depth) {
    struct mem_cgroup* memcg = (void*)memcg_address;
    if (depth < 1 || depth > POD_DEPTH) return false;
    struct cgroup* cgroup = LOAD(memcg, css.cgroup);
    __u32 below = LOAD(cgroup, nr_descendants) + LOAD(cgroup, nr_dying_descendants);
    if (below <= EVICTD_MAX_POD_CGROUPS) return false;
    if (depth == POD_DEPTH) return true;
    __u64 id = cgroup_id(cgroup);
    return bpf_map_lookup_elem(&pods, &id) != 0;
}

/* The sizes of a whole subtree, as the kernel last added them up: every 2 s, and whenever memory.stat is read.
 * Never inlined, as each is for kernels that have its fields. Until 6.9 the counters lie in the node itself. */
static __attribute__((noinline)) const void* subtree_counters_inside(struct mem_cgroup_per_node* node) {
    return (void*)node + bpf_core_field_offset(struct mem_cgroup_per_node___inside, lruvec_stats.state);
}
static __attribute__((noinline)) const void* subtree_counters_apart(struct mem_cgroup_per_node* node) {
    struct lruvec_stats* stats = 0;
    bpf_probe_read_kernel(&stats, sizeof(stats),
                          (void*)node + bpf_core_field_offset(struct mem_cgroup_per_node, lruvec_stats));
    return stats ? (void*)stats + bpf_core_field_offset(struct lruvec_stats, state) : 0;
}

/* The LRU lists are the first items, in the order of enum lru_list. */
static __always_inline void add_subtree_sizes_of(struct mem_cgroup_per_node* node, struct lru_sizes* sizes) {
    long pages[NR_LRU_LISTS] = {};
    const void* at = 0;
    if (bpf_core_field_exists(struct mem_cgroup_per_node___inside, lruvec_stats.state))
        at = subtree_counters_inside(node);
    else if (bpf_core_field_exists(struct lruvec_stats, state))
        at = subtree_counters_apart(node);
    if (!at) return;
    load_longs(pages, at, NR_LRU_LISTS, NR_LRU_LISTS);
    for (int list = 0; list < NR_LRU_LISTS; list++) sizes->list[list] += pages[list] > 0 ? pages[list] : 0;
}

/* Global, hence verified once. */
__weak __noinline int add_subtree_sizes(__u64 memcg_address, struct lru_sizes* sizes) {
    if (!sizes) return 0;
    for (__u32 nid = 0; nid < MAX_NUMA_NODES && nid < numa_nodes; nid++) {
        struct mem_cgroup_per_node* node = LOAD_POINTER(memcg_address, struct mem_cgroup, nodeinfo, nid);
        if (node) add_subtree_sizes_of(node, sizes);
    }
    return 0;
}

#endif

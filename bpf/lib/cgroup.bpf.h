/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* Reading cgroups and memory cgroups by their kernel structures: identity, ancestry, counters. All reads are probe
 * reads: a structure that goes away under us yields nonsense for once, never a fault. */
#ifndef EVICTD_BPF_CGROUP_H
#define EVICTD_BPF_CGROUP_H

#include "lib/kernel_types.h"

#include "lib/load.bpf.h"

/* Set by the agent before loading. */
extern const volatile __u64 page_size;

#define NO_LIMIT (~0ULL)

/* Pods lie at most this deep below their root (QoS class, pod). */
#define POD_DEPTH 2

static __always_inline __u64 cgroup_id(struct cgroup* cgroup) { return LOAD(LOAD(cgroup, kn), id); }

static __always_inline struct mem_cgroup* memcg_of_cgroup(struct cgroup* cgroup) {
    /* css is the first member of struct mem_cgroup */
    return LOAD_POINTER(cgroup, struct cgroup, subsys, bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id));
}

static __always_inline struct mem_cgroup* memcg_of_task(struct task_struct* task) {
    struct css_set* set = LOAD(task, cgroups);
    return LOAD_POINTER(set, struct css_set, subsys, bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id));
}

static __always_inline struct mem_cgroup* memcg_parent(struct mem_cgroup* memcg) {
    return (struct mem_cgroup*)LOAD(memcg, css.parent);
}

static __always_inline __u64 memcg_id(struct mem_cgroup* memcg) { return LOAD(LOAD(LOAD(memcg, css.cgroup), kn), id); }

/* Where the task's memory is charged, for tasks that the verifier knows (bpf_get_current_task_btf()): loads, where
 * memcg_of_task() calls bpf_probe_read_kernel() for each. For what is on everybody's way. */
static __always_inline struct cgroup* memory_cgroup(struct task_struct* task) {
    void* set = task->cgroups;
    struct cgroup_subsys_state* css =
        *(struct cgroup_subsys_state**)(set + bpf_core_field_offset(struct css_set, subsys) +
                                        bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id) * sizeof(void*));
    return css->cgroup;
}

/* Never inlined, as each is for kernels that have its fields: the compiler would compute the offsets up front. */
static __attribute__((noinline)) int populated_by_css(struct cgroup* cgroup) {
    return LOAD(cgroup, self.nr_populated_csets) || LOAD(cgroup, self.nr_populated_children);
}
static __attribute__((noinline)) int populated_by_cgroup(struct cgroup* cgroup) {
    return LOAD(cgroup, nr_populated_csets) || LOAD(cgroup, nr_populated_domain_children) ||
           LOAD(cgroup, nr_populated_threaded_children);
}

static __always_inline bool has_populated(struct cgroup* cgroup) {
    if (bpf_core_field_exists(struct cgroup_subsys_state, nr_populated_csets)) return populated_by_css(cgroup);
    if (bpf_core_field_exists(struct cgroup, nr_populated_csets)) return populated_by_cgroup(cgroup);
    return true;
}

/* Whether processes are in it or below it, in the kernel's own counters (cgroup_update_populated()): what cgroup.events
 * says on v2, and kept on v1 too. A process whose first thread has ended counts. A process that moves between a cgroup
 * and one below it enters one counter before it leaves the other, and between two reads it may be seen in neither: only
 * what is empty twice is empty. A kernel with neither is unknown, which is not empty. */
static __always_inline bool is_populated(struct cgroup* cgroup) {
    return has_populated(cgroup) || has_populated(cgroup);
}

#define CSS_DYING (1 << 4) /* of an unnamed enum in linux/cgroup-defs.h; set by rmdir(2) */

static __always_inline bool memcg_dying(struct mem_cgroup* memcg) { return LOAD(memcg, css.flags) & CSS_DYING; }

/* Whether `cgroup` is `root_id` or lies below it. Ids repeat between hierarchies, so the hierarchy counts too. */
static __always_inline bool cgroup_below(struct cgroup* cgroup, __u32 hierarchy, __u32 root_level, __u64 root_id) {
    if ((__u32)LOAD(LOAD(cgroup, root), hierarchy_id) != hierarchy || LOAD(cgroup, level) < (int)root_level)
        return false;
    struct cgroup* ancestor = LOAD_POINTER(cgroup, struct cgroup, ancestors, root_level);
    return cgroup_id(ancestor) == root_id;
}

static __always_inline __u64 pages_to_bytes(long pages) { return pages > 0 ? (__u64)pages * page_size : 0; }

static __always_inline __u64 memcg_usage(struct mem_cgroup* memcg) {
    return pages_to_bytes(LOAD(memcg, memory.usage.counter));
}

/* PAGE_COUNTER_MAX is LONG_MAX / PAGE_SIZE pages: whatever comes near it is no limit. */
static __always_inline __u64 limit_to_bytes(unsigned long pages) {
    return pages >= (1UL << 62) / page_size ? NO_LIMIT : pages * page_size;
}
static __always_inline __u64 memcg_max(struct mem_cgroup* memcg) { return limit_to_bytes(LOAD(memcg, memory.max)); }
static __always_inline __u64 memcg_high(struct mem_cgroup* memcg) { return limit_to_bytes(LOAD(memcg, memory.high)); }

/* Reclaim begins when a charge does not fit, and the largest is a huge page's (HPAGE_PMD_NR with 4 KiB pages): a reader
 * whose page cache comes in large folios never comes nearer to its limit. */
#define NEAR_LIMIT_PAGES 512

static __always_inline bool near_limit(__u64 usage, __u64 limit) {
    return limit != NO_LIMIT && usage + NEAR_LIMIT_PAGES * page_size >= limit;
}

#endif

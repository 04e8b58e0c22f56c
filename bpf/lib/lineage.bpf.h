/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* From any cgroup below the pods' root to the pod that it lies in, in as few reads as it takes: for programs that are
 * on everybody's way. */
#ifndef EVICTD_BPF_LINEAGE_H
#define EVICTD_BPF_LINEAGE_H

#include "lib/kernel_types.h"

#include "lib/cgroup.bpf.h"
#include "lib/maps.bpf.h"

/* The cgroups on the way from the pods' root, at[0] if it is that, down to `cgroup`. */
struct lineage {
    struct cgroup* at[1 + POD_DEPTH];
};
/* How many of them after the first there are; they may be a pod's. 0: `cgroup` is not below that level. */
static __always_inline int lineage_of(struct cgroup* cgroup, __u32 root_level, struct lineage* lineage) {
    int below = BPF_CORE_READ(cgroup, level) - (int)root_level;
    if (below < 1) return 0;
    void* first = (void*)cgroup + bpf_core_field_offset(struct cgroup, ancestors) + root_level * sizeof(void*);
    bpf_probe_read_kernel(lineage->at, below < POD_DEPTH ? (1 + 1) * sizeof(void*) : sizeof(lineage->at), first);
    return below < POD_DEPTH ? below : POD_DEPTH;
}

/* What `map` has for the pod that `cgroup`, of the memory hierarchy, lies in, and the pod's id. Only for maps that hold
 * pods' ids and no other cgroup's: whatever is found is below the pods' root then. */
static __always_inline void* find_for_pod(void* map, struct cgroup* cgroup, __u64* id) {
    const struct evictd_settings* current = get_settings();
    struct lineage lineage = {};
    if (!current || !current->pods_root_id) return 0;
    int below = lineage_of(cgroup, current->pods_root_level, &lineage);
    /* Most pods have a class above them. */
    for (int depth = POD_DEPTH; depth > 0; depth--) {
        if (depth > below) continue;
        *id = cgroup_id(lineage.at[depth]);
        void* found = bpf_map_lookup_elem(map, id);
        if (found) return found;
    }
    return 0;
}

/* Whether a cgroup's reclaim is for the pods' root or for what is above it. The tracepoints do not name the cgroup: it
 * is the nearest above the current task that is at its limit. Where none is, the reclaim was asked for (memory.reclaim)
 * and is for no limit. `freed`: pages that it has got already. Global, hence verified once. */
__weak __noinline int is_for_pods_root(__u64 freed) {
    const struct evictd_settings* current = get_settings();
    struct mem_cgroup* memcg = memcg_of_task((struct task_struct*)bpf_get_current_task());
    for (int depth = 0; current && depth < 32 && memcg; depth++) {
        __u64 usage = memcg_usage(memcg) + freed * page_size;
        if (near_limit(usage, memcg_max(memcg)) || near_limit(usage, memcg_high(memcg)))
            return BPF_CORE_READ(memcg, css.cgroup, level) <= (int)current->pods_root_level;
        memcg = memcg_parent(memcg);
    }
    return 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* Which cgroup below the pods' root runs into its memory.high or memory.max? Said at most every 100 ms for each: a
 * cgroup that lives at its limit would say it thousands of times a second. */
#include "lib/kernel_types.h"

#include <bpf/bpf_tracing.h>

#include "lib/cgroup.bpf.h"
#include "lib/emit.bpf.h"

#define REPORT_EVERY_NS (100 * 1000 * 1000ULL)

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1024); /* cgroups in trouble at the same time; an evicted entry only repeats itself */
    __type(key, __u64);
    __type(value, __u64);
} memcg_reported SEC(".maps");

static __always_inline enum evictd_memcg_limit breached(struct mem_cgroup* memcg) {
    __u64 usage = memcg_usage(memcg);
    if (near_limit(usage, memcg_max(memcg))) return EVICTD_MEMCG_MAX;
    if (near_limit(usage, memcg_high(memcg))) return EVICTD_MEMCG_HIGH;
    return 0; /* proactive reclaim: nobody is at a limit */
}

static __always_inline int report(struct mem_cgroup* memcg, enum evictd_memcg_limit kind) {
    const struct evictd_settings* current = get_settings();
    struct cgroup* cgroup = BPF_CORE_READ(memcg, css.cgroup);
    if (!current || !current->pods_root_id ||
        !cgroup_below(cgroup, current->hierarchy_id, current->pods_root_level, current->pods_root_id))
        return 0;
    __u64 id = cgroup_id(cgroup), now = bpf_ktime_get_ns();
    __u64* last = bpf_map_lookup_elem(&memcg_reported, &id);
    if (last && now - *last < REPORT_EVERY_NS) return 0;
    bpf_map_update_elem(&memcg_reported, &id, &now, BPF_ANY);
    struct evictd_memcg_event* event = reserve_event(EVICTD_EVENT_MEMCG, evictd_memcg_event);
    if (!event) return 0;
    event->cgroup_id = id;
    event->usage = memcg_usage(memcg);
    event->limit = kind == EVICTD_MEMCG_MAX ? memcg_max(memcg) : memcg_high(memcg);
    event->kind = kind;
    event->unused = 0;
    submit_event(event);
    return 0;
}

/* Names the cgroup that is being reclaimed. */
SEC("fentry/try_to_free_mem_cgroup_pages")
int BPF_PROG(on_try_to_free, struct mem_cgroup* memcg) {
    enum evictd_memcg_limit kind = breached(memcg);
    return kind ? report(memcg, kind) : 0;
}

/* The tracepoint does not name it: it is the current task's, or the nearest ancestor at its limit. */
SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(on_memcg_reclaim) {
    struct mem_cgroup* memcg = memcg_of_task((struct task_struct*)bpf_get_current_task());
    for (int depth = 0; depth < 32 && memcg; depth++) {
        enum evictd_memcg_limit kind = breached(memcg);
        if (kind) return report(memcg, kind);
        memcg = memcg_parent(memcg);
    }
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

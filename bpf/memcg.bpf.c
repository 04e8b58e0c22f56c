/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* Which cgroup runs into its memory.high or memory.max: the pods' root, into either, or a pod or a container, into its
 * memory.max? A cgroup that lives at its limit hits it thousands of times a second: the root is reported every 100 ms
 * at most, a pod with all its containers as often as the agent wants it, with the number of hits since. What a
 * container limits below itself is its own affair: it may have any number of such cgroups. */
#include "lib/kernel_types.h"

#include <bpf/bpf_tracing.h>

#include "lib/cgroup.bpf.h"
#include "lib/emit.bpf.h"
#include "lib/lineage.bpf.h"
#include "lib/pod_name.bpf.h"

/* The agent looks at the node then: ten times a second is what it does under pressure anyway. */
#define ROOT_EVERY_NS (100 * 1000 * 1000ULL)

__u64 root_reported_ns = 0;

struct pod_at_limit {
    __u64 cgroup_id; /* its own or its container's, whichever hit its limit last */
    __u64 seen;      /* how often that one had by then, in the kernel's count */
    __u64 hits;      /* of all of them, not reported yet */
    __u64 reported_ns;
};

/* By the pod's cgroup id. A pod cannot make another pod, so it has one entry. More than the largest nodes run; beyond
 * that the oldest entry is lost with its hits, and its pod is reported before its time. 400 KiB. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 4096);
    __type(key, __u64);
    __type(value, struct pod_at_limit);
} pods_at_limit SEC(".maps");

static __always_inline enum evictd_memcg_limit breached(struct mem_cgroup* memcg) {
    __u64 usage = memcg_usage(memcg);
    if (near_limit(usage, memcg_max(memcg))) return EVICTD_MEMCG_MAX;
    if (near_limit(usage, memcg_high(memcg))) return EVICTD_MEMCG_HIGH;
    return 0; /* proactive reclaim: nobody is at a limit */
}

static __always_inline struct evictd_memcg_event* reserve(struct mem_cgroup* memcg, enum evictd_memcg_limit kind) {
    struct evictd_memcg_event* event = reserve_event(EVICTD_EVENT_MEMCG, evictd_memcg_event);
    if (!event) return 0;
    event->cgroup_id = memcg_id(memcg);
    event->pod_cgroup_id = 0;
    event->usage = memcg_usage(memcg);
    event->limit = kind == EVICTD_MEMCG_MAX ? memcg_max(memcg) : memcg_high(memcg);
    event->hits = 0;
    event->kind = kind;
    event->unused = 0;
    event->container[0] = 0;
    return event;
}

static __always_inline int report_root(struct mem_cgroup* memcg, enum evictd_memcg_limit kind) {
    __u64 now = bpf_ktime_get_ns();
    if ((__s64)(now - root_reported_ns) < (__s64)ROOT_EVERY_NS) return 0;
    root_reported_ns = now;
    struct evictd_memcg_event* event = reserve(memcg, kind);
    if (event) submit_event(event);
    return 0;
}

/* "max" in memory.events.local: the kernel counts it on v1 too, where it shows it nowhere. */
static __always_inline __u64 times_at_max(struct mem_cgroup* memcg) {
    __u64 times = 0;
    bpf_probe_read_kernel(&times, sizeof(times),
                          (void*)memcg + bpf_core_field_offset(struct mem_cgroup, memory_events_local) +
                              bpf_core_enum_value(enum memcg_memory_event, MEMCG_MAX) * sizeof(atomic_long_t));
    return times;
}

/* Whether the kernel has counted hits since the last time. It has not where memory.high or memory.reclaim is why memory
 * is reclaimed just below memory.max. Exact as long as one of the pod's cgroups hits its limit; of several in turn,
 * each turn counts once. */
static __always_inline bool count_hits(struct pod_at_limit* pod, __u64 id, __u64 times) {
    __u64 seen = pod->seen;
    __u64 owner = pod->cgroup_id;
    if (owner != id) {
        /* no owner while `seen` is still another's: who finds that counts one */
        if (owner && __sync_val_compare_and_swap(&pod->cgroup_id, owner, 0) == owner) {
            __sync_lock_test_and_set(&pod->seen, times);
            __sync_lock_test_and_set(&pod->cgroup_id, id);
        }
        __sync_fetch_and_add(&pod->hits, 1);
        return true;
    }
    if (times <= seen) return false;
    /* another CPU counts if this fails: it has seen as many, or the next hit finds what it has not */
    if (__sync_val_compare_and_swap(&pod->seen, seen, times) == seen) __sync_fetch_and_add(&pod->hits, times - seen);
    return true;
}

static __always_inline bool names(struct cgroup* cgroup) { return names_a_pod((__u64)BPF_CORE_READ(cgroup, kn, name)); }

/* Which pod's limit that of `cgroup` is, its own or a container's; NULL: neither. A container may be named as a pod is,
 * so the pod is the outer one. */
static __always_inline struct cgroup* limited_pod(struct cgroup* cgroup, __u32 root_level) {
    struct lineage lineage = {};
    int below = lineage_of(cgroup, root_level, &lineage);
    int level = BPF_CORE_READ(cgroup, level) - (int)root_level;
    if (below < 1) return 0;
    if (names(lineage.at[1])) return level <= 2 ? lineage.at[1] : 0;
    return below == POD_DEPTH && level <= POD_DEPTH + 1 && names(lineage.at[POD_DEPTH]) ? lineage.at[POD_DEPTH] : 0;
}

static __always_inline int report_pod(struct mem_cgroup* memcg, struct cgroup* cgroup,
                                      const struct evictd_settings* current) {
    __u64 times = times_at_max(memcg);
    struct cgroup* pod = times ? limited_pod(cgroup, current->pods_root_level) : 0;
    if (!pod) return 0;
    __u64 pod_id = cgroup_id(pod), id = cgroup_id(cgroup);
    struct pod_at_limit* known = bpf_map_lookup_elem(&pods_at_limit, &pod_id);
    if (!known) {
        struct pod_at_limit fresh = {.cgroup_id = id, .seen = times - 1};
        bpf_map_update_elem(&pods_at_limit, &pod_id, &fresh, BPF_NOEXIST);
        known = bpf_map_lookup_elem(&pods_at_limit, &pod_id);
    }
    if (!known || !count_hits(known, id, times)) return 0;
    __u64 now = bpf_ktime_get_ns(), last = known->reported_ns;
    /* signed: another CPU may have reported since `now` was read */
    if (last && (__s64)(now - last) < (__s64)current->pod_limit_period_ns) return 0;
    if (__sync_val_compare_and_swap(&known->reported_ns, last, now) != last) return 0;
    struct evictd_memcg_event* event = reserve(memcg, EVICTD_MEMCG_MAX);
    if (!event) return 0;      /* what was counted is in the next */
    event->head.time_ns = now; /* two records are as far apart as they were let through */
    event->pod_cgroup_id = pod_id;
    event->hits = __sync_lock_test_and_set(&known->hits, 0);
    if (id != pod_id)
        bpf_probe_read_kernel_str(event->container, sizeof(event->container), BPF_CORE_READ(cgroup, kn, name));
    submit_event(event);
    return 0;
}

static __always_inline int report_limit(struct mem_cgroup* memcg, enum evictd_memcg_limit kind) {
    const struct evictd_settings* current = get_settings();
    struct cgroup* cgroup = BPF_CORE_READ(memcg, css.cgroup);
    if (!current || !current->pods_root_id ||
        !cgroup_below(cgroup, current->hierarchy_id, current->pods_root_level, current->pods_root_id))
        return 0;
    if (cgroup_id(cgroup) == current->pods_root_id) return report_root(memcg, kind);
    return kind == EVICTD_MEMCG_MAX ? report_pod(memcg, cgroup, current) : 0;
}

/* Names the cgroup that is being reclaimed. */
SEC("fentry/try_to_free_mem_cgroup_pages")
int BPF_PROG(on_try_to_free, struct mem_cgroup* memcg) {
    enum evictd_memcg_limit kind = breached(memcg);
    return kind ? report_limit(memcg, kind) : 0;
}

/* The tracepoint does not name it: it is the current task's, or the nearest ancestor at its limit. */
SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(on_memcg_reclaim) {
    struct mem_cgroup* memcg = memcg_of_task((struct task_struct*)bpf_get_current_task());
    for (int depth = 0; depth < 32 && memcg; depth++) {
        enum evictd_memcg_limit kind = breached(memcg);
        if (kind) return report_limit(memcg, kind);
        memcg = memcg_parent(memcg);
    }
    return 0;
}

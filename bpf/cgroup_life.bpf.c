/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which cgroups come, go, fill and empty where pods are? The kernel prints the path for us. It knows nothing of pods:
 * the agent resolves. */
#include "lib/kernel_types.h"

#include <bpf/bpf_tracing.h>

#include "lib/cgroup.bpf.h"
#include "lib/emit.bpf.h"

extern struct mem_cgroup* pods_memcg;

/* Before the pods' root is known, the agent hears of everything so near to the hierarchy's root that it could be it. */
#define SEARCH_LEVEL 4

/* Pods lie at most this deep below their root (QoS class, pod). What is deeper is a container's or made by what runs in
 * one, which may make and remove cgroups all day: it costs them one comparison, and the agent nothing. */
#define POD_DEPTH 2

static __always_inline bool is_news(struct cgroup* cgroup, enum evictd_cgroup_change change) {
    const struct evictd_settings* current = get_settings();
    if (!current) return false;
    __u32 level = cgroup->level; /* the tracepoint's own cgroup: a load, not a call of bpf_probe_read_kernel() */
    if (current->pods_root_id)
        return level <= current->pods_root_level + POD_DEPTH &&
               cgroup_below(cgroup, current->hierarchy_id, current->pods_root_level, current->pods_root_id);
    return change == EVICTD_CGROUP_MADE && level <= SEARCH_LEVEL &&
           (__u32)BPF_CORE_READ(cgroup, root, hierarchy_id) == current->hierarchy_id;
}

static __always_inline int report(struct cgroup* cgroup, const char* path, enum evictd_cgroup_change change) {
    if (!is_news(cgroup, change)) return 0;
    struct evictd_cgroup_event* event = reserve_event(EVICTD_EVENT_CGROUP, evictd_cgroup_event);
    if (!event) return 0;
    event->cgroup_id = cgroup_id(cgroup);
    event->level = BPF_CORE_READ(cgroup, level);
    event->change = change;
    if (bpf_probe_read_kernel_str(event->path, sizeof(event->path), path) < 0) event->path[0] = 0;
    submit_event(event);
    return 0;
}

SEC("tp_btf/cgroup_mkdir")
int BPF_PROG(on_cgroup_mkdir, struct cgroup* cgroup, const char* path) {
    return report(cgroup, path, EVICTD_CGROUP_MADE);
}

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(on_cgroup_rmdir, struct cgroup* cgroup, const char* path) {
    const struct evictd_settings* current = get_settings();
    bool may_be_root = current && (!current->pods_root_id || (__u32)cgroup->level == current->pods_root_level);
    if (may_be_root && pods_memcg && memcg_of_cgroup(cgroup) == pods_memcg)
        pods_memcg = 0; /* the timer must not read it once it is freed */
    return report(cgroup, path, EVICTD_CGROUP_REMOVED);
}

SEC("tp_btf/cgroup_notify_populated")
int BPF_PROG(on_cgroup_populated, struct cgroup* cgroup, const char* path, int populated) {
    return report(cgroup, path, populated ? EVICTD_CGROUP_POPULATED : EVICTD_CGROUP_EMPTIED);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* Which pods' cgroups fill and empty? The kernel prints the path for us. Attached only while a victim may end soon: the
 * tracepoint formats the path of every cgroup that fills or empties, whoever made it. Which pod it is, the agent finds
 * out. */
#include "lib/kernel_types.h"

#include <bpf/bpf_tracing.h>

#include "lib/cgroup.bpf.h"
#include "lib/emit.bpf.h"
#include "lib/lineage.bpf.h"
#include "lib/pod_name.bpf.h"

static __always_inline bool is_named_as_a_pod(struct cgroup* cgroup) {
    return names_a_pod((__u64)BPF_CORE_READ(cgroup, kn, name));
}

/* Only a pod's own cgroup: what is below one, a container's or made by what runs in it, changes as often as a pod likes
 * and would fill the ring. A container may be named as a pod is, so a pod above it counts. */
static __always_inline bool is_a_pods(struct cgroup* cgroup) {
    const struct evictd_settings* current = get_settings();
    struct lineage lineage = {};
    if (!current || !current->pods_root_id) return false;
    /* the tracepoint's own cgroup: a load, not a call of bpf_probe_read_kernel() */
    int below = (int)cgroup->level - (int)current->pods_root_level;
    if (below < 1 || below > POD_DEPTH) return false;
    if (!cgroup_below(cgroup, current->hierarchy_id, current->pods_root_level, current->pods_root_id)) return false;
    if (!is_named_as_a_pod(cgroup)) return false;
    if (below == 1) return true;
    if (lineage_of(cgroup, current->pods_root_level, &lineage) < POD_DEPTH) return false;
    return !is_named_as_a_pod(lineage.at[1]);
}

SEC("tp_btf/cgroup_notify_populated")
int BPF_PROG(on_cgroup_populated, struct cgroup* cgroup, const char* path, int populated) {
    if (!is_a_pods(cgroup)) return 0;
    struct evictd_cgroup_event* event = reserve_event(EVICTD_EVENT_CGROUP, evictd_cgroup_event);
    if (!event) return 0;
    event->cgroup_id = cgroup_id(cgroup);
    event->level = BPF_CORE_READ(cgroup, level);
    event->change = populated ? EVICTD_CGROUP_POPULATED : EVICTD_CGROUP_EMPTIED;
    if (bpf_probe_read_kernel_str(event->path, sizeof(event->path), path) < 0) event->path[0] = 0;
    submit_event(event);
    return 0;
}

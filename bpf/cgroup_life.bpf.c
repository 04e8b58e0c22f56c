/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which of the pods' cgroups fill and empty? The kernel prints the path for us. Attached only while a victim may end
 * soon: the tracepoint formats the path of every cgroup that fills or empties, whoever made it. It knows nothing of
 * pods: the agent resolves. */
#include "lib/kernel_types.h"

#include <bpf/bpf_tracing.h>

#include "lib/cgroup.bpf.h"
#include "lib/emit.bpf.h"

/* What is deeper than POD_DEPTH is a container's or made by what runs in one. */
static __always_inline bool may_be_a_pods(struct cgroup* cgroup) {
    const struct evictd_settings* current = get_settings();
    if (!current || !current->pods_root_id) return false;
    __u32 level = cgroup->level; /* the tracepoint's own cgroup: a load, not a call of bpf_probe_read_kernel() */
    return level <= current->pods_root_level + POD_DEPTH &&
           cgroup_below(cgroup, current->hierarchy_id, current->pods_root_level, current->pods_root_id);
}

SEC("tp_btf/cgroup_notify_populated")
int BPF_PROG(on_cgroup_populated, struct cgroup* cgroup, const char* path, int populated) {
    if (!may_be_a_pods(cgroup)) return 0;
    struct evictd_cgroup_event* event = reserve_event(EVICTD_EVENT_CGROUP, evictd_cgroup_event);
    if (!event) return 0;
    event->cgroup_id = cgroup_id(cgroup);
    event->level = BPF_CORE_READ(cgroup, level);
    event->change = populated ? EVICTD_CGROUP_POPULATED : EVICTD_CGROUP_EMPTIED;
    if (bpf_probe_read_kernel_str(event->path, sizeof(event->path), path) < 0) event->path[0] = 0;
    submit_event(event);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

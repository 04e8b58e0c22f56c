/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* Who writes to the oom_score_adj of a pod's process? Said at most every 100 ms for each cgroup: a process that writes
 * in a loop would say it a million times a second. What is left out, the agent finds when it looks again. */
#include "lib/kernel_types.h"

#include <bpf/bpf_tracing.h>

#include "lib/cgroup.bpf.h"
#include "lib/emit.bpf.h"
#include "lib/pods.bpf.h"

#define REPORT_CHANGE_EVERY_NS (100 * 1000 * 1000ULL)

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1024); /* cgroups written to at the same time; an evicted entry only repeats itself */
    __type(key, __u64);
    __type(value, __u64);
} oom_score_reported SEC(".maps");

SEC("tp_btf/oom_score_adj_update")
int BPF_PROG(on_oom_score_adj_update, struct task_struct* task) {
    const struct evictd_settings* current = get_settings();
    struct mem_cgroup* memcg = memcg_of_task(task);
    if (!current || !current->pods_root_id ||
        !cgroup_below(BPF_CORE_READ(memcg, css.cgroup), current->hierarchy_id, current->pods_root_level,
                      current->pods_root_id))
        return 0;
    __u64 id = memcg_id(memcg), now = bpf_ktime_get_ns();
    __u64* last = bpf_map_lookup_elem(&oom_score_reported, &id);
    if (last && now - *last < REPORT_CHANGE_EVERY_NS) return 0;
    struct mem_cgroup* container;
    __u64 pod = find_pod(memcg, &container);
    if (!pod) return 0;
    bpf_map_update_elem(&oom_score_reported, &id, &now, BPF_ANY);
    struct evictd_oom_score_event* event = reserve_event(EVICTD_EVENT_OOM_SCORE, evictd_oom_score_event);
    if (!event) return 0;
    event->cgroup_id = id;
    event->pod_cgroup_id = pod;
    event->pid = BPF_CORE_READ(task, tgid);
    event->oom_score_adj = BPF_CORE_READ(task, signal, oom_score_adj);
    submit_event(event);
    return 0;
}

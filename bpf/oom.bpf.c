/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whom did the kernel's OOM killer choose, and whose limit was it? One program for each way to know; the agent loads
 * the best that this kernel takes. */
#include "lib/kernel_types.h"

#include <bpf/bpf_tracing.h>

#include "lib/cgroup.bpf.h"
#include "lib/emit.bpf.h"

/* try_charge() takes pages in batches of 64 (MEMCG_CHARGE_BATCH): a cgroup that near to its limit has hit it. */
#define AT_LIMIT_PAGES 64

static __always_inline int report(struct task_struct* victim, struct mem_cgroup* limiting) {
    struct evictd_oom_event* event = reserve_event(EVICTD_EVENT_OOM_KILL, evictd_oom_event);
    if (!event) return 0;
    event->cgroup_id = memcg_id(memcg_of_task(victim));
    event->limit_cgroup_id = limiting ? memcg_id(limiting) : 0;
    event->usage = limiting ? memcg_usage(limiting) : 0;
    event->limit = limiting ? memcg_max(limiting) : 0;
    event->pid = BPF_CORE_READ(victim, tgid);
    event->oom_score_adj = BPF_CORE_READ(victim, signal, oom_score_adj);
    BPF_CORE_READ_STR_INTO(&event->comm, victim, comm);
    submit_event(event);
    return 0;
}

/* The kernel's own account: oom_control says which memory cgroup ran out, or none. */
SEC("fentry/oom_kill_process")
int BPF_PROG(on_oom_kill_process, struct oom_control* control) {
    struct task_struct* victim = BPF_CORE_READ(control, chosen);
    return victim ? report(victim, BPF_CORE_READ(control, memcg)) : 0;
}

/* Without trampolines only the victim is told. If it or an ancestor stands at its limit, that was it. A machine that
 * runs out while some cgroup above the victim happens to be full is taken for that cgroup's OOM. */
static __always_inline struct mem_cgroup* limiting_ancestor(struct mem_cgroup* memcg) {
    for (int depth = 0; depth < 32 && memcg; depth++) {
        __u64 limit = memcg_max(memcg);
        if (limit != NO_LIMIT && memcg_usage(memcg) + AT_LIMIT_PAGES * page_size >= limit) return memcg;
        memcg = memcg_parent(memcg);
    }
    return 0;
}

/* mark_victim(task, uid): since 6.9, and in stable kernels that took it (Debian's 6.1). */
SEC("tp_btf/mark_victim")
int BPF_PROG(on_mark_victim_task, struct task_struct* victim) {
    return report(victim, limiting_ancestor(memcg_of_task(victim)));
}

/* mark_victim(pid): until then. The victim of a cgroup's OOM shares the cgroup at its limit with the task that asked.
 */
SEC("tp_btf/mark_victim")
int BPF_PROG(on_mark_victim_pid, int pid) {
    struct mem_cgroup* memcg = memcg_of_task((struct task_struct*)bpf_get_current_task());
    struct mem_cgroup* limiting = limiting_ancestor(memcg);
    struct evictd_oom_event* event = reserve_event(EVICTD_EVENT_OOM_KILL, evictd_oom_event);
    if (!event) return 0;
    event->cgroup_id = 0; /* the agent asks /proc while the victim still dies */
    event->limit_cgroup_id = limiting ? memcg_id(limiting) : 0;
    event->usage = limiting ? memcg_usage(limiting) : 0;
    event->limit = limiting ? memcg_max(limiting) : 0;
    event->pid = pid;
    event->oom_score_adj = 0;
    event->comm[0] = 0;
    submit_event(event);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

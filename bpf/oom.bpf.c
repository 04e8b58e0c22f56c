/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* Whom did the kernel's OOM killer kill, in which container, and whose limit was it? mark_victim tells every victim,
 * those that memory.oom.group adds too; oom_kill_process, where it can be had, whose OOM it is. */
#include "lib/kernel_types.h"

#include <bpf/bpf_tracing.h>

#include "lib/cgroup.bpf.h"
#include "lib/emit.bpf.h"
#include "lib/pods.bpf.h"

/* try_charge() takes pages in batches of 64 (MEMCG_CHARGE_BATCH): a cgroup that near to its limit has hit it. */
#define AT_LIMIT_PAGES 64

/* Set by the agent before loading: on_oom_kill_process is attached. */
const volatile __u32 oom_is_told = 0;

/* The OOM that is being dealt with: one at a time, under the kernel's oom_lock. */
__u64 oom_thread = 0; /* who ran out and now kills, as bpf_get_current_pid_tgid() has it */
__u64 oom_memcg = 0;  /* struct mem_cgroup* at its limit; 0: the machine */
__u64 oom_chosen = 0; /* struct task_struct* */

/* A dying process whose threads ask for memory is marked once for each of them. */
#define TOLD_ONCE_NS (10 * 1000 * 1000 * 1000ULL)
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 256);
    __type(key, __u32); /* thread group */
    __type(value, __u64);
} oom_reported SEC(".maps");

/* The kernel's own account: oom_control says which memory cgroup ran out, or none. */
SEC("fentry/oom_kill_process")
int BPF_PROG(on_oom_kill_process, struct oom_control* control) {
    oom_thread = bpf_get_current_pid_tgid();
    oom_memcg = (__u64)BPF_CORE_READ(control, memcg);
    oom_chosen = (__u64)BPF_CORE_READ(control, chosen);
    return 0;
}

static __always_inline bool is_told_now(void) { return oom_is_told && oom_thread == bpf_get_current_pid_tgid(); }

/* Without trampolines only the victim is reported. If it or an ancestor stands at its limit, that was it. A machine
 * that runs out while some cgroup above the victim happens to be full is taken for that cgroup's OOM. */
static __always_inline struct mem_cgroup* limiting_ancestor(struct mem_cgroup* memcg) {
    for (int depth = 0; depth < 32 && memcg; depth++) {
        __u64 limit = memcg_max(memcg);
        if (limit != NO_LIMIT && memcg_usage(memcg) + AT_LIMIT_PAGES * page_size >= limit) return memcg;
        memcg = memcg_parent(memcg);
    }
    return 0;
}

/* mem_cgroup_get_oom_group(): some cgroup from the victim's up to the one at its limit wants to die as a whole. */
static __always_inline bool dies_as_group(struct mem_cgroup* memcg, struct mem_cgroup* limiting) {
    for (int depth = 0; depth < 32 && memcg; depth++) {
        if (BPF_CORE_READ(memcg, oom_group)) return true;
        if (memcg == limiting) return false;
        memcg = memcg_parent(memcg);
    }
    return false;
}

/* Processes stand in their cgroup's list in the order in which they came: a runtime puts the container's first one in,
 * the others are its children, or came later (kubectl exec). Pid 1 would not do: pods may share a pid namespace. */
static __always_inline __u32 role_of(struct task_struct* victim) {
    struct task_struct* leader = BPF_CORE_READ(victim, group_leader);
    struct list_head* first = BPF_CORE_READ(leader, cgroups, tasks.next);
    void* link = (void*)leader + bpf_core_field_offset(struct task_struct, cg_list);
    return (void*)first == link ? EVICTD_OOM_FIRST_PROCESS : EVICTD_OOM_CHILD;
}

static __always_inline bool told_before(__u32 pid) {
    __u64 now = bpf_ktime_get_ns();
    __u64* last = bpf_map_lookup_elem(&oom_reported, &pid);
    if (last && now - *last < TOLD_ONCE_NS) return true;
    bpf_map_update_elem(&oom_reported, &pid, &now, BPF_ANY);
    return false;
}

static __always_inline void tell_limit(struct evictd_oom_event* event, struct mem_cgroup* limiting) {
    event->limit_cgroup_id = limiting ? memcg_id(limiting) : 0;
    event->usage = limiting ? memcg_usage(limiting) : 0;
    event->limit = limiting ? memcg_max(limiting) : 0;
}

static __always_inline int report_kill(struct task_struct* victim, struct mem_cgroup* limiting) {
    struct mem_cgroup *memcg = memcg_of_task(victim), *container;
    bool group = dies_as_group(memcg, limiting);
    __u32 pid = BPF_CORE_READ(victim, tgid);
    if (told_before(pid)) return 0;
    __u64 pod = find_pod(memcg, &container);
    struct evictd_oom_event* event = reserve_event(EVICTD_EVENT_OOM_KILL, evictd_oom_event);
    if (!event) return 0;
    tell_limit(event, limiting);
    event->cgroup_id = memcg_id(memcg);
    event->pod_cgroup_id = pod;
    event->pid = pid;
    event->oom_score_adj = BPF_CORE_READ(victim, signal, oom_score_adj);
    event->role = role_of(victim);
    event->group = group;
    BPF_CORE_READ_STR_INTO(&event->comm, victim, comm);
    event->container[0] = 0;
    if (container)
        bpf_probe_read_kernel_str(event->container, sizeof(event->container),
                                  BPF_CORE_READ(container, css.cgroup, kn, name));
    submit_event(event);
    return 0;
}

/* mark_victim(task, uid): since 6.9, and in stable kernels that took it (Debian's 6.1). A process that dies already and
 * runs out of memory on the way is marked without being killed by anybody: where oom_kill_process is reported, it is
 * known by that. */
SEC("tp_btf/mark_victim")
int BPF_PROG(on_mark_victim_task, struct task_struct* victim) {
    if (!oom_is_told) return report_kill(victim, limiting_ancestor(memcg_of_task(victim)));
    return is_told_now() ? report_kill(victim, (struct mem_cgroup*)oom_memcg) : 0;
}

/* mark_victim(pid): until then. The victim of a cgroup's OOM shares the cgroup at its limit with the task that asked;
 * who dies in its group is known by pid only. */
SEC("tp_btf/mark_victim")
int BPF_PROG(on_mark_victim_pid, int pid) {
    struct mem_cgroup* memcg = memcg_of_task((struct task_struct*)bpf_get_current_task());
    struct mem_cgroup* limiting = limiting_ancestor(memcg);
    if (is_told_now()) {
        struct task_struct* chosen = (struct task_struct*)oom_chosen;
        limiting = (struct mem_cgroup*)oom_memcg;
        if (BPF_CORE_READ(chosen, pid) == pid) return report_kill(chosen, limiting);
    }
    struct evictd_oom_event* event = reserve_event(EVICTD_EVENT_OOM_KILL, evictd_oom_event);
    if (!event) return 0;
    tell_limit(event, limiting);
    event->cgroup_id = 0; /* the agent asks /proc while the victim still dies */
    event->pod_cgroup_id = 0;
    event->pid = pid;
    event->oom_score_adj = 0;
    event->role = EVICTD_OOM_ROLE_UNKNOWN;
    event->group = 0;
    event->comm[0] = 0;
    event->container[0] = 0;
    submit_event(event);
    return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* How long do tasks stall for memory, in each pod and on the node, and who does the reclaim work? From PSI's own
 * hooks, or from the reclaim tracepoints; one program for each. The timer of watermark.bpf.c closes a slot every 100 ms
 * and compares the windows with the agent's lines. */
#include "lib/kernel_types.h"

#include "lib/stall.bpf.h"

#include <bpf/bpf_tracing.h>

#include "lib/cgroup.bpf.h"
#include "lib/emit.bpf.h"
#include "lib/lineage.bpf.h"

struct stalling_task {
    __u64 pod;      /* whose entry counts it; 0: none */
    __u32 depth;    /* psi_memstall_enter() nests */
    __u32 on_node;  /* the node's entry counts it */
    __u32 for_node; /* the reclaim that it is in began for the node or for the pods' root */
    __u32 unused;
};

/* Preallocated: a task that begins to stall does so because there is no memory. More than stall at a time on a
 * node that can still be helped; those beyond are not counted. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 8192);
    __type(key, __u32);
    __type(value, struct stalling_task);
} stalling SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct evictd_stall_lines);
} stall_lines SEC(".maps");

/* Whether the node's entry holds anything of the last 10 s. Zero: no task stalled for 10 s, and no pod's is read. */
__u32 stall_seen;
__u64 stall_slot_began_ns;
__u32 stall_slot;

static __always_inline __u32 current_pid(void) { return (__u32)bpf_get_current_pid_tgid(); }

static __always_inline void begin_stall(struct task_struct* task) {
    struct stalling_task begun = {.depth = 1};
    __u32 pid = current_pid();
    __u64 now_us = bpf_ktime_get_ns() / 1000;
    struct evictd_stall* pod = find_for_pod(&stall, memory_cgroup(task), &begun.pod);
    struct evictd_stall* node = node_stall();
    /* First room to remember it: what is counted must be uncounted. */
    if (bpf_map_update_elem(&stalling, &pid, &begun, BPF_NOEXIST)) return;
    struct stalling_task* kept = bpf_map_lookup_elem(&stalling, &pid);
    if (!kept) return;
    if (!pod || !count_stall(pod, now_us)) kept->pod = 0;
    kept->on_node = node && count_stall(node, now_us);
}

static __always_inline void end_stall(__u32 pid, const struct stalling_task* task) {
    __u64 now_us = bpf_ktime_get_ns() / 1000;
    if (task->pod) {
        struct evictd_stall* pod = bpf_map_lookup_elem(&stall, &task->pod);
        if (pod) uncount_stall(pod, now_us);
    }
    if (task->on_node) {
        struct evictd_stall* node = node_stall();
        if (node) uncount_stall(node, now_us);
    }
    bpf_map_delete_elem(&stalling, &pid);
}

static __always_inline void add_reclaim(struct evictd_stall* of, unsigned long pages, bool for_node) {
    __sync_fetch_and_add(&of->reclaims, 1);
    if (!pages) {
        __sync_fetch_and_add(&of->reclaims_failed, 1);
        return;
    }
    __sync_fetch_and_add(&of->reclaimed, pages * page_size);
    if (for_node) __sync_fetch_and_add(&of->reclaimed_for_node, pages * page_size);
}

/* A pod that reclaims while it stalls needs the memory: that causes the pressure, of the node if the reclaim was for
 * the node or for all pods, else at its own limit only. */
static __always_inline void count_reclaim(const struct stalling_task* task, unsigned long pages, bool for_node) {
    struct evictd_stall* pod = task->pod ? bpf_map_lookup_elem(&stall, &task->pod) : 0;
    struct evictd_stall* node = node_stall();
    if (pod) add_reclaim(pod, pages, for_node);
    if (node) add_reclaim(node, pages, for_node);
}

/* PSI's own: reclaim, compaction, waiting for pages that were just thrown away, throttling above memory.high. The
 * kernel's flag tells a nested one from one whose end was missed; with psi=0 it is never set, and the first end of a
 * nested one counts. */
SEC("fentry/psi_memstall_enter")
int BPF_PROG(on_memstall_enter) {
    struct task_struct* task = bpf_get_current_task_btf();
    __u32 pid = current_pid();
    struct stalling_task* known = bpf_map_lookup_elem(&stalling, &pid);
    if (!known)
        begin_stall(task);
    else
        known->depth = BPF_CORE_READ_BITFIELD_PROBED(task, in_memstall) ? known->depth + 1 : 1;
    return 0;
}

SEC("fentry/psi_memstall_leave")
int BPF_PROG(on_memstall_leave) {
    __u32 pid = current_pid();
    struct stalling_task* known = bpf_map_lookup_elem(&stalling, &pid);
    if (!known) return 0;
    if (known->depth > 1)
        known->depth--;
    else
        end_stall(pid, known);
    return 0;
}

static __always_inline const struct stalling_task* current_stall(void) {
    __u32 pid = current_pid();
    return bpf_map_lookup_elem(&stalling, &pid);
}

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(count_direct_reclaim, unsigned long pages) {
    const struct stalling_task* known = current_stall();
    if (known) count_reclaim(known, pages, true);
    return 0;
}

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(count_memcg_reclaim, unsigned long pages) {
    const struct stalling_task* known = current_stall();
    if (known) count_reclaim(known, pages, is_for_pods_root(pages));
    return 0;
}

/* Without trampolines: reclaim alone. It does not nest; a task that is known already has missed its end. */
static __always_inline int begin_reclaim(bool for_node) {
    __u32 pid = current_pid();
    struct stalling_task* known = bpf_map_lookup_elem(&stalling, &pid);
    if (!known) {
        begin_stall(bpf_get_current_task_btf());
        known = bpf_map_lookup_elem(&stalling, &pid);
    }
    if (known) known->for_node = for_node;
    return 0;
}

static __always_inline int end_reclaim(unsigned long pages) {
    __u32 pid = current_pid();
    const struct stalling_task* known = bpf_map_lookup_elem(&stalling, &pid);
    if (!known) return 0;
    count_reclaim(known, pages, known->for_node);
    end_stall(pid, known);
    return 0;
}

SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
int BPF_PROG(on_direct_reclaim_begin) { return begin_reclaim(true); }

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int BPF_PROG(on_direct_reclaim_end, unsigned long pages) { return end_reclaim(pages); }

SEC("tp_btf/mm_vmscan_memcg_reclaim_begin")
int BPF_PROG(on_memcg_reclaim_begin) { return begin_reclaim(is_for_pods_root(0)); }

SEC("tp_btf/mm_vmscan_memcg_reclaim_end")
int BPF_PROG(on_memcg_reclaim_end, unsigned long pages) { return end_reclaim(pages); }

/* A program that was busy on this CPU is skipped by the kernel, and an end may be missed: no task stays counted for
 * longer than it lives. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_stalled_exit) {
    __u32 pid = current_pid();
    const struct stalling_task* known = bpf_map_lookup_elem(&stalling, &pid);
    if (known) end_stall(pid, known);
    return 0;
}

struct closing {
    __u64 now;
    __u32 slot;
};

#define SLOTS_IN_1S 10
#define SLOTS_IN_10S 100

static __always_inline __u64 slot_of(const struct evictd_stall* of, __u32 slot) {
    return of->slots[slot & (EVICTD_STALL_SLOTS - 1)];
}

/* The total before the stall that lasts: one that ends in between is missed for now and made up for in the next slot,
 * where the other way round it would count twice. */
static __always_inline __u64 lost_until(const struct evictd_stall* of, __u64 now) {
    __u64 total = *(volatile __u64*)&of->total_ns;
    __u64 running = *(volatile __u64*)&of->stalling;
    __u64 since = (running >> TASK_BITS) * 1000;
    return total + (running & TASK_MASK && now > since ? now - since : 0);
}

static __always_inline void close_times(struct evictd_stall* of, const struct closing* closing) {
    __u64 until = lost_until(of, closing->now);
    __u64 lost = until > of->closed_ns ? until - of->closed_ns : 0;
    if (until > of->closed_ns) of->closed_ns = until;
    if (lost > EVICTD_STALL_SLOT_NS) lost = EVICTD_STALL_SLOT_NS; /* the tick came late */
    of->lost_ns[EVICTD_STALL_100MS] = lost;
    of->lost_ns[EVICTD_STALL_1S] += lost - slot_of(of, closing->slot - SLOTS_IN_1S);
    of->lost_ns[EVICTD_STALL_10S] += lost - slot_of(of, closing->slot - SLOTS_IN_10S);
    of->slots[closing->slot & (EVICTD_STALL_SLOTS - 1)] = lost;
}

/* In slots of 1 s: ten of them, the youngest of which is filling. */
static __always_inline void close_bytes(__u64 total, __u64* closed, __u64* in_10s, __u32* slots, __u32 slot) {
    __u32 second = slot / SLOTS_IN_1S;
    __u32* young = &slots[second & (EVICTD_RECLAIM_SLOTS - 1)];
    if (slot % SLOTS_IN_1S == 0) {
        *in_10s -= (__u64)slots[(second - 10) & (EVICTD_RECLAIM_SLOTS - 1)] << 10;
        *young = 0;
    }
    __u64 kib = (total - *closed) >> 10;
    *young += kib;
    *in_10s += kib << 10;
    *closed += kib << 10;
}

static __always_inline void close_reclaim(struct evictd_stall* of, const struct closing* closing) {
    close_bytes(of->reclaimed, &of->closed_reclaimed, &of->reclaimed_10s, of->reclaim_slots, closing->slot);
    close_bytes(of->reclaimed_for_node, &of->closed_for_node, &of->for_node_10s, of->for_node_slots, closing->slot);
}

static __always_inline void report_stall(struct evictd_stall* of, __u64 id, const struct evictd_stall_line* line,
                                         __u32 bit, const struct closing* closing) {
    __u32 window = line->window;
    if (window >= EVICTD_STALL_WINDOWS) return;
    __u64 lost = of->lost_ns[window];
    bool over = lost >= line->lost_ns;
    if (over == !!(of->over & bit)) return;
    struct evictd_stall_event* event = reserve_event(EVICTD_EVENT_STALL, evictd_stall_event);
    if (!event) return; /* the bit stays as it is: the edge is reported with the next slot */
    event->head.time_ns = closing->now;
    event->cgroup_id = id;
    event->lost_ns = lost;
    event->line_ns = line->lost_ns;
    event->window = window;
    event->over = over;
    of->over ^= bit;
    submit_event(event);
}

/* Global: verified once. */
__noinline int close_entry(struct evictd_stall* of, __u64 id, __u64 now, __u32 slot) {
    struct closing closing = {.now = now, .slot = slot};
    if (!of) return 0;
    close_times(of, &closing);
    close_reclaim(of, &closing);
    const struct evictd_stall_lines* lines = bpf_map_lookup_elem(&stall_lines, &evictd_zero);
    for (__u32 i = 0; lines && i < EVICTD_MAX_STALL_LINES; i++) {
        const struct evictd_stall_line* line = &lines->line[i];
        if (line->lost_ns && (line->scope == EVICTD_STALL_NODE) == (id == 0))
            report_stall(of, id, line, 1U << i, &closing);
    }
    return 0;
}

static long close_pod(void* map, const __u64* id, struct evictd_stall* of, struct closing* closing) {
    if (*id) close_entry(of, *id, closing->now, closing->slot);
    return 0;
}

/* Called by the watermark timer. Closes the slot if it is over, and says in how many ns the next one is. Global, hence
 * verified once by itself. */
__noinline int close_stall_slot(__u64 now) {
    __u64 length = now - stall_slot_began_ns;
    if (length < EVICTD_STALL_SLOT_NS) return EVICTD_STALL_SLOT_NS - length;
    /* A tick that came late does not move the ones after it, unless it came much too late. */
    stall_slot_began_ns = length < 2 * EVICTD_STALL_SLOT_NS ? stall_slot_began_ns + EVICTD_STALL_SLOT_NS : now;
    struct closing closing = {.now = now, .slot = ++stall_slot};
    struct evictd_stall* node = node_stall();
    if (!node) return EVICTD_STALL_SLOT_NS;
    bool before = stall_seen;
    close_entry(node, 0, closing.now, closing.slot);
    stall_seen = node->lost_ns[EVICTD_STALL_10S] || node->stalling || node->reclaimed_10s;
    if (before || stall_seen) bpf_for_each_map_elem(&stall, close_pod, &closing, 0);
    return stall_slot_began_ns + EVICTD_STALL_SLOT_NS - now;
}

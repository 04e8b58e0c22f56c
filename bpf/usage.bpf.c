/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How much does every pod use? A cgroup iterator fills one row for each cgroup below the pods' root, from page
 * counters and LRU sizes: exact, without the rstat flush that reading memory.stat costs. It adds nothing up. */
#include "lib/kernel_types.h"

#include "lib/lru.bpf.h"
#include "lib/maps.bpf.h"
#include "lib/stall.bpf.h"

extern struct mem_cgroup* pods_memcg;
extern __u32 stall_seen;

/* The rows of the last pass, in memory that the agent maps: a cgroup iterator that hands out more than its seq_file
 * buffer of 32 KiB (585 rows) is refused with EOPNOTSUPP. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, EVICTD_MAX_CGROUPS);
    __uint(map_flags, BPF_F_MMAPABLE);
    __type(key, __u32);
    __type(value, struct evictd_usage);
} usage_rows SEC(".maps");

__u32 usage_count; /* cgroups seen in the pass, also those that found no room; set to 0 by the agent before it */

/* A cgroup links to css_sets, one for each combination with other hierarchies' cgroups, and each has a list of threads.
 */
struct processes {
    struct list_head *link_head, *link, *thread_head, *thread;
    __u32 count;
};

static __always_inline void count_thread(struct processes* processes) {
    struct task_struct* task = (void*)processes->thread - bpf_core_field_offset(struct task_struct, cg_list);
    if (BPF_CORE_READ(task, group_leader) == task) processes->count++; /* a group leader stands for its process */
    processes->thread = BPF_CORE_READ(task, cg_list.next);
}

static __always_inline void enter_css_set(struct processes* processes) {
    struct cgrp_cset_link* link = (void*)processes->link - bpf_core_field_offset(struct cgrp_cset_link, cset_link);
    struct css_set* set = BPF_CORE_READ(link, cset);
    processes->thread_head = (void*)set + bpf_core_field_offset(struct css_set, tasks);
    processes->thread = BPF_CORE_READ(set, tasks.next);
    processes->link = BPF_CORE_READ(link, cset_link.next);
}

static long count_step(__u32 index, struct processes* processes) {
    if (processes->thread && processes->thread != processes->thread_head)
        count_thread(processes);
    else if (processes->link && processes->link != processes->link_head)
        enter_css_set(processes);
    else
        return 1;
    return 0;
}

#define MAX_THREADS 32768 /* counted in one cgroup: the usual pid_max. More are there but not counted */

/* Without css_set_lock: a count taken while processes come and go may be off by those. */
static __always_inline __u32 count_processes(struct cgroup* cgroup) {
    struct list_head* first = cgroup->cset_links.next;
    struct processes processes = {
        .link_head = (void*)cgroup + bpf_core_field_offset(struct cgroup, cset_links),
        .link = first,
        /* In no css_set yet: equal, but not 0. Kernels before 6.7 verify a callback once, with the values of its first
         * call, and cut away every branch that a known one rules out. */
        .thread_head = first,
        .thread = first,
    };
    bpf_loop(MAX_THREADS, count_step, &processes, 0);
    return processes.count;
}

/* The root's row comes first, and a victim that ends during the pass would be seen gone while its memory is still in
 * the total: a second pod would pay for it. So the total is read once more, after everybody's processes. */
static __always_inline int read_total_again(void) {
    struct evictd_usage* root = bpf_map_lookup_elem(&usage_rows, &evictd_zero);
    const struct evictd_settings* current = get_settings();
    if (root && current && usage_count && root->cgroup_id == current->pods_root_id)
        root->usage = memcg_usage(pods_memcg);
    return 0;
}

/* Of a pod that is watched; nobody looks for it while nobody stood still for 10 s. */
static __always_inline void read_stall(struct evictd_usage* row) {
    const struct evictd_stall* known = stall_seen ? bpf_map_lookup_elem(&stall, &row->cgroup_id) : 0;
    row->reclaimed = known ? known->reclaimed_10s : 0;
    for (int window = 0; window < EVICTD_STALL_WINDOWS; window++)
        row->stalled_us[window] = known ? known->lost_ns[window] / 1000 : 0;
}

SEC("iter/cgroup")
int read_usage(struct bpf_iter__cgroup* ctx) {
    struct cgroup* cgroup = ctx->cgroup;
    if (!cgroup) return read_total_again();
    struct mem_cgroup* memcg = memcg_of_cgroup(cgroup);
    /* On v2 a container may have cgroups of its own without the memory controller: what runs there is charged to the
     * nearest one that has it, which is the last row, and counts there too. */
    __u32 index = memcg ? usage_count++ : usage_count - 1;
    struct evictd_usage* row = bpf_map_lookup_elem(&usage_rows, &index);
    if (!row) return 0;
    __u32 processes = count_processes(cgroup);
    if (!memcg) {
        row->processes += processes;
        return 0;
    }
    struct lru_sizes lru = {};
    const struct evictd_settings* current = get_settings();
    row->cgroup_id = cgroup->kn->id; /* the iterator's own cgroup: loads, not calls of bpf_probe_read_kernel() */
    row->level = cgroup->level;
    if (current && row->cgroup_id == current->pods_root_id) pods_memcg = memcg; /* for the timer */
    add_lru_sizes((__u64)memcg, &lru);
    row->usage = memcg_usage(memcg);
    row->limit = memcg_max(memcg);
    row->inactive_file = lru.list[LRU_INACTIVE_FILE] * page_size;
    row->active_file = lru.list[LRU_ACTIVE_FILE] * page_size;
    row->anon = (lru.list[LRU_INACTIVE_ANON] + lru.list[LRU_ACTIVE_ANON]) * page_size;
    row->processes = processes;
    read_stall(row);
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How much does every pod use? A cgroup iterator writes one binary row for each cgroup below the pods' root, from page
 * counters and LRU sizes: exact, without the rstat flush that reading memory.stat costs. It adds nothing up. */
#include "lib/lru.bpf.h"
#include "lib/maps.bpf.h"

extern struct mem_cgroup *pods_memcg;

struct processes {
    struct list_head *head, *at;
    __u32 count;
};

/* A css_set's list holds threads; their group leaders are the processes. */
static long count_process(__u32 index, struct processes *processes)
{
    struct list_head *at = processes->at;
    if (!at || at == processes->head)
        return 1;
    struct task_struct *task = (void *)at - bpf_core_field_offset(struct task_struct, cg_list);
    if (BPF_CORE_READ(task, group_leader) == task)
        processes->count++;
    bpf_probe_read_kernel(&processes->at, sizeof(processes->at), at);
    return 0;
}

#define MAX_CSS_SETS 64   /* one for each combination of other hierarchies' cgroups; a pod's cgroup has one */
#define MAX_THREADS 16384 /* counted in one css_set: half of the default pid_max */

static __always_inline __u32 count_processes(struct cgroup *cgroup)
{
    struct list_head *head = (void *)cgroup + bpf_core_field_offset(struct cgroup, cset_links);
    struct list_head *at = BPF_CORE_READ(cgroup, cset_links.next);
    __u32 count = 0;
    for (int i = 0; i < MAX_CSS_SETS && at && at != head; i++) {
        struct cgrp_cset_link *link = (void *)at - bpf_core_field_offset(struct cgrp_cset_link, cset_link);
        struct css_set *set = BPF_CORE_READ(link, cset);
        if (BPF_CORE_READ(set, nr_tasks) > 0) {
            struct processes processes = {
                .head = (void *)set + bpf_core_field_offset(struct css_set, tasks),
                .at = BPF_CORE_READ(set, tasks.next),
            };
            bpf_loop(MAX_THREADS, count_process, &processes, 0);
            count += processes.count;
        }
        at = BPF_CORE_READ(link, cset_link.next);
    }
    return count;
}

SEC("iter/cgroup")
int read_usage(struct bpf_iter__cgroup *ctx)
{
    struct cgroup *cgroup = ctx->cgroup;
    if (!cgroup)
        return 0;
    struct mem_cgroup *memcg = memcg_of_cgroup(cgroup);
    if (!memcg)
        return 0;
    struct lru_sizes lru = {};
    struct evictd_usage row = {.cgroup_id = cgroup_id(cgroup), .level = BPF_CORE_READ(cgroup, level)};
    const struct evictd_settings *current = get_settings();
    if (current && row.cgroup_id == current->pods_root_id)
        pods_memcg = memcg; /* for the timer */
    add_lru_sizes((__u64)memcg, &lru);
    row.usage = memcg_usage(memcg);
    row.limit = memcg_max(memcg);
    row.inactive_file = lru.list[LRU_INACTIVE_FILE] * page_size;
    row.active_file = lru.list[LRU_ACTIVE_FILE] * page_size;
    row.anon = (lru.list[LRU_INACTIVE_ANON] + lru.list[LRU_ACTIVE_ANON]) * page_size;
    row.processes = count_processes(cgroup);
    bpf_seq_write(ctx->meta->seq, &row, sizeof(row));
    return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

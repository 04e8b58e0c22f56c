/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* How many processes has a cgroup? Its threads are visited one by one, without a lock. */
#ifndef EVICTD_BPF_PROCESSES_H
#define EVICTD_BPF_PROCESSES_H

#include "lib/kernel_types.h"

#include "lib/cgroup.bpf.h"
#include "lib/walk.bpf.h"

/* How many processes of a cgroup there are. It links to css_sets, one for each combination with other hierarchies'
 * cgroups; each has a list of its threads, and one of first threads that ended before the others of their process. */
struct processes {
    struct list_head *link_head, *link;
    struct css_set* set; /* whose list is read */
    struct list_head *head, *thread;
    __u32 left; /* of that list, as many as the kernel says there are: without css_set_lock, a thread that goes while
                 * it is looked at leads into another list, whose end would never be seen */
    bool ended; /* it is the list of those that ended */
    __u32 count;
};

#define MAX_THREADS 32768 /* counted in one cgroup: the usual pid_max. More are there but not counted */

static __always_inline void enter_list(struct processes* processes, struct list_head* head, __u32 left) {
    processes->head = head;
    processes->thread = LOAD(head, next);
    processes->left = left;
}

static __always_inline void count_thread(struct processes* processes) {
    struct task_struct* task = (void*)processes->thread - bpf_core_field_offset(struct task_struct, cg_list);
    struct list_head* next = LOAD(task, cg_list.next);
    if (processes->ended)
        processes->count += LOAD(LOAD(task, signal), live.counter) > 0; /* else it only waits for its parent */
    else if (LOAD(task, group_leader) == task)
        processes->count++;                                                /* a group leader stands for its process */
    processes->left = next == processes->thread ? 0 : processes->left - 1; /* itself: taken off the list */
    processes->thread = next;
}

static __always_inline void enter_css_set(struct processes* processes) {
    struct cgrp_cset_link* link = (void*)processes->link - bpf_core_field_offset(struct cgrp_cset_link, cset_link);
    struct css_set* set = LOAD(link, cset);
    processes->set = set;
    processes->ended = false;
    enter_list(processes, (void*)set + bpf_core_field_offset(struct css_set, tasks), LOAD(set, nr_tasks));
    processes->link = LOAD(link, cset_link.next);
}

static long count_step(__u32 index, struct processes* processes) {
    if (processes->left && processes->thread && processes->thread != processes->head) {
        count_thread(processes);
    } else if (processes->set && !processes->ended) {
        processes->ended = true;
        enter_list(processes, (void*)processes->set + bpf_core_field_offset(struct css_set, dying_tasks), MAX_THREADS);
    } else if (processes->link && processes->link != processes->link_head) {
        enter_css_set(processes);
    } else {
        return 1;
    }
    return 0;
}

/* Without css_set_lock: a count taken while processes come and go may be off by those. Global, hence verified once. */
__weak __noinline int count_processes(__u64 cgroup_address) {
    struct cgroup* cgroup = (void*)cgroup_address;
    struct list_head* first = LOAD(cgroup, cset_links.next);
    struct processes processes = {
        .link_head = (void*)cgroup + bpf_core_field_offset(struct cgroup, cset_links),
        .link = first,
        /* In no list yet, but nothing that the verifier knows: see seen_at_first. */
        .set = (struct css_set*)(__u64)seen_at_first,
        .head = first,
        .thread = first,
        .left = seen_at_first,
        .ended = seen_at_first,
    };
    bpf_loop(MAX_THREADS, count_step, &processes, 0);
    return processes.count;
}

struct uncontrolled {
    struct walk walk;
    __u32 processes;
};

static long uncontrolled_step(__u32 index, struct uncontrolled* below) {
    struct cgroup_subsys_state* at = below->walk.at;
    if (!below->walk.seen && at != below->walk.root) below->processes += count_processes((__u64)LOAD(at, cgroup));
    return walk_on(&below->walk);
}

/* On v2 a container may have cgroups of its own without the memory controller: what runs there is charged to the
 * nearest one that has it, and counts there too. A cgroup gives the controller to all of its children or to none. */
__weak __noinline int count_uncontrolled(__u64 cgroup_address) {
    struct cgroup* cgroup = (void*)cgroup_address;
    if (LOAD(cgroup, subtree_ss_mask) & 1 << bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id)) return 0;
    struct uncontrolled below = {
        .walk = walk_from((void*)cgroup + bpf_core_field_offset(struct cgroup, self)),
        .processes = seen_at_first,
    };
    bpf_loop(2 * EVICTD_MAX_POD_CGROUPS, uncontrolled_step, &below, 0);
    return below.processes;
}

#endif

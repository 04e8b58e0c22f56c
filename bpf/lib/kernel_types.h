/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* The kernel's types, by the few members we read. CO-RE finds the members in the running kernel's BTF, so this is no
 * copy of any kernel's layout, and the build needs no kernel at hand. */
#ifndef EVICTD_BPF_KERNEL_TYPES_H
#define EVICTD_BPF_KERNEL_TYPES_H

#include <linux/bpf.h>
#include <stdbool.h>

typedef __u64 u64;
typedef __u32 u32;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
    long counter;
} atomic_long_t;
typedef struct {
    int counter;
} atomic_t;

struct list_head {
    struct list_head *next, *prev;
};

struct kernfs_node {
    const char* name;
    u64 id;
};
struct cgroup_root {
    int hierarchy_id;
};
struct cgroup_subsys_state {
    struct cgroup* cgroup;
    struct list_head sibling, children;
    struct cgroup_subsys_state* parent;
    unsigned int flags;
    u64 serial_nr;
    int nr_populated_csets, nr_populated_children; /* since 7.x */
};
struct cgroup {
    struct cgroup_subsys_state self;
    int level;
    int nr_populated_csets, nr_populated_domain_children, nr_populated_threaded_children; /* the first until 6.18 */
    int nr_descendants, nr_dying_descendants;
    unsigned short subtree_ss_mask;
    struct kernfs_node* kn;
    struct cgroup_subsys_state* subsys[1];
    struct cgroup_root* root;
    struct list_head cset_links;
    struct cgroup* ancestors[1];
};
struct css_set {
    struct cgroup_subsys_state* subsys[1];
    int nr_tasks;
    struct list_head tasks, dying_tasks;
};
struct cgrp_cset_link {
    struct css_set* cset;
    struct list_head cset_link;
};

struct signal_struct {
    atomic_t live;
    short oom_score_adj;
};
struct task_struct {
    int pid, tgid;
    char comm[16];
    struct task_struct* group_leader;
    struct signal_struct* signal;
    struct css_set* cgroups;
    struct list_head cg_list;
    unsigned int in_memstall : 1;
};

struct page_counter {
    atomic_long_t usage;
    unsigned long high, max;
};
struct zone {
    unsigned long _watermark[1], watermark_boost;
    atomic_long_t vm_stat[1];
};
struct pglist_data {
    struct zone node_zones[1];
    int nr_zones;
    unsigned long totalreserve_pages;
    atomic_long_t vm_stat[1];
};
struct lru_gen_folio {
    unsigned long max_seq;
    bool enabled;
    long nr_pages[1]; /* [generations][anon, file][zones] */
};
struct lruvec {
    struct lru_gen_folio lrugen;
    struct pglist_data* pgdat;
};
struct lruvec_stats {
    long state[1];
};
struct mem_cgroup_per_node {
    struct lruvec lruvec;
    struct lruvec_stats* lruvec_stats; /* since 6.10; until then as in ___inside */
    unsigned long lru_zone_size[1];    /* [zones][lists] */
};
/* pahole wrote all arrays into BTF with one dimension, and newer ones as they are declared. What follows three
 * underscores is no part of a name for CO-RE. */
struct lru_gen_folio___deep {
    long nr_pages[1][1][1];
};
struct lruvec___deep {
    struct lru_gen_folio___deep lrugen;
};
struct mem_cgroup_per_node___deep {
    struct lruvec___deep lruvec;
    unsigned long lru_zone_size[1][1];
};
struct mem_cgroup_per_node___inside {
    struct lruvec_stats lruvec_stats;
};
struct mem_cgroup {
    struct cgroup_subsys_state css;
    struct page_counter memory;
    bool oom_group;
    atomic_long_t memory_events_local[1]; /* [enum memcg_memory_event] */
    struct mem_cgroup_per_node* nodeinfo[1];
};
struct oom_control {
    struct mem_cgroup* memcg;
    struct task_struct* chosen;
};

struct sock_common {
    unsigned short skc_family;
};
struct sock {
    struct sock_common __sk_common;
    struct {
        atomic_t rmem_alloc;
    } sk_backlog;
    int sk_forward_alloc, sk_wmem_queued;
    struct mem_cgroup* sk_memcg;
    struct {
        struct cgroup* cgroup;
    } sk_cgrp_data;
};
struct socket {
    struct sock* sk;
};
struct proto {
    char name[32];
    long* sysctl_mem;
};

struct timespec64 {
    long long tv_sec;
    long tv_nsec;
};

struct seq_file;
struct bpf_iter_meta {
    struct seq_file* seq;
    u64 session_id;
};
struct bpf_iter__cgroup {
    struct bpf_iter_meta* meta;
    struct cgroup* cgroup;
};
struct bpf_iter__task {
    struct bpf_iter_meta* meta;
    struct task_struct* task;
};
struct bpf_iter__task_file {
    struct bpf_iter_meta* meta;
    struct task_struct* task;
    struct file* file;
};

#pragma clang attribute pop

/* The values differ between kernels and configurations: only bpf_core_enum_value() of them is used. */
enum cgroup_subsys_id { memory_cgrp_id = 4 };
enum memcg_memory_event { MEMCG_MAX = 2 };
enum zone_stat_item { NR_FREE_PAGES = 0 };
enum zone_type { __MAX_NR_ZONES = 5 };
enum node_stat_item {
    NR_INACTIVE_FILE = 2,
    NR_ACTIVE_FILE = 3,
    NR_SLAB_RECLAIMABLE_B = 5,
    NR_KERNEL_MISC_RECLAIMABLE = 33
};
enum zone_watermarks { WMARK_LOW = 1 };

/* <sys/socket.h>: part of the kernel's interface, so they stay. */
enum { AF_INET = 2, AF_INET6 = 10 };

/* enum lru_list: the same since 2.6.28. */
enum { LRU_INACTIVE_ANON, LRU_ACTIVE_ANON, LRU_INACTIVE_FILE, LRU_ACTIVE_FILE, LRU_UNEVICTABLE, NR_LRU_LISTS };

#endif

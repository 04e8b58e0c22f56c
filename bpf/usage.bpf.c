/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* How much does every pod use? One row for each cgroup below the pods' root, removed ones included, from page counters
 * and LRU sizes: exact, without the rstat flush that reading memory.stat costs. It adds nothing up. A pass may keep
 * what the last one read. */
#include "lib/kernel_types.h"

#include "lib/fetch.bpf.h"
#include "lib/lru.bpf.h"
#include "lib/maps.bpf.h"
#include "lib/node_memory.bpf.h"
#include "lib/processes.bpf.h"
#include "lib/stall.bpf.h"
#include "lib/walk.bpf.h"

extern __u32 stall_seen;

/* watermark.bpf.c: the root of all memory cgroups, null while the timer is not started; and what it knows of the pods'
 * file pages. */
extern struct mem_cgroup* root_memcg;
extern __u64 walked_cache, walked_usage, estimated_threshold, distrusted_ns;

/* The rows of the last pass, in memory that the agent maps: an iterator's program may write no more than the seq_file's
 * buffer of 32 KiB at an element, and this one has one element. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, EVICTD_MAX_CGROUPS);
    __uint(map_flags, BPF_F_MMAPABLE);
    __type(key, __u32);
    __type(value, struct evictd_usage);
} usage_rows SEC(".maps");

__u32 usage_count; /* cgroups seen in the pass, also those that found no room; set to 0 by the agent before it */

/* Set by the agent before a pass: so many rows are of the last pass, those behind them of any before. A row that is of
 * the last pass and of the same cgroup again keeps its count of processes. 0: each is counted, which means to visit
 * each thread of the pods. */
__u32 usage_known;

/* Set by the agent before a pass: of a cgroup whose usage is the same as in the last pass, the row stays as it is. */
__u32 keep_unchanged;

/* In such a pass pages may have moved without a change of usage: the tree is another one than in the last pass, so that
 * a removed cgroup's pages may be those of one above, or they are on another of the kernel's lists (compare_lists()).
 * The agent reads all rows again then. Set to 0 by it before a pass. */
__u32 pages_moved;

/* Of a pod that is watched; not looked up if no task stalled for 10 s. */
static __always_inline void read_stall(struct evictd_usage* row) {
    __u64 id = row->cgroup_id; /* a key on the stack: 6.1 takes no other here */
    const struct evictd_stall* known = stall_seen ? bpf_map_lookup_elem(&stall, &id) : 0;
    row->reclaimed = known ? known->reclaimed_10s : 0;
    row->reclaimed_for_node = known ? known->for_node_10s : 0;
    for (int window = 0; window < EVICTD_STALL_WINDOWS; window++)
        row->stalled_us[window] = known ? known->lost_ns[window] / 1000 : 0;
}

/* File pages of all cgroups in the pass, in bytes. Not on the stack: a program and all that it calls have 512 bytes of
 * it, Linux 6.1 rounds each function's up to 32, and this one needs nearly all of them. */
__u64 pass_inactive_file, pass_active_file;

#define ROW_DEPTHS (1 + POD_DEPTH)

struct usage_walk {
    struct walk walk;
    __u32 rows[ROW_DEPTHS]; /* of the cgroups above: where pages are counted that get no row of their own */
    bool v2;
    bool over;
};

static __always_inline struct evictd_usage* row_above(struct usage_walk* usage) {
    __u32 depth = usage->walk.depth;
    __u32 index = depth <= 1 ? usage->rows[0] : depth == 2 ? usage->rows[1] : usage->rows[2];
    return bpf_map_lookup_elem(&usage_rows, &index);
}

static __always_inline void remember_row(struct usage_walk* usage, __u32 index) {
    __u32 depth = usage->walk.depth;
    if (depth == 0) usage->rows[0] = index;
    if (depth <= 1) usage->rows[1] = index;
    if (depth <= 2) usage->rows[2] = index;
}

static __always_inline void add_pages(struct evictd_usage* row, const struct lru_sizes* lru) {
    __u64 inactive = lru->list[LRU_INACTIVE_FILE] * page_size, active = lru->list[LRU_ACTIVE_FILE] * page_size;
    row->inactive_file += inactive;
    row->active_file += active;
    pass_inactive_file += inactive;
    pass_active_file += active;
    row->anon += (lru->list[LRU_INACTIVE_ANON] + lru->list[LRU_ACTIVE_ANON]) * page_size;
}

/* Adds the pages of a removed cgroup to the row above, if they are too few for a row of their own. Global, hence
 * verified once. */
__weak __noinline int add_remains(struct evictd_usage* row, __u64 memcg_address) {
    struct lru_sizes lru = {};
    if (!row || row->flags & EVICTD_USAGE_KEPT) return 0;
    add_lru_sizes(memcg_address, &lru);
    add_pages(row, &lru);
    return 0;
}

static __always_inline void read_processes(struct evictd_usage* row, struct cgroup* cgroup, bool below_too,
                                           bool is_known) {
    if (is_populated(cgroup)) row->flags |= EVICTD_USAGE_POPULATED;
    if (is_known) return;
    row->processes = count_processes((__u64)cgroup);
    if (below_too) row->processes += count_uncontrolled((__u64)cgroup);
}

/* Whether the row that the pass is at is the same cgroup's of the last pass. It is in usage_count already. */
static __always_inline bool is_of_last_pass(const struct evictd_usage* row, struct mem_cgroup* memcg) {
    return usage_count <= usage_known && row->serial == LOAD(memcg, css.serial_nr);
}

/* Keeps the row of a cgroup whose usage is that of the last pass, if the row is of that pass. Those of whole pods
 * change without it: the kernel adds up their pages later. Stalls are read anew, as they go by time. Global, hence
 * verified once. */
__weak __noinline int keep_row(struct evictd_usage* row, __u64 memcg_address) {
    struct mem_cgroup* memcg = (void*)memcg_address;
    if (!row || !keep_unchanged) return false;
    if (!is_of_last_pass(row, memcg) || memcg_dying(memcg) != !!(row->flags & EVICTD_USAGE_DYING)) {
        pages_moved = 1;
        return false;
    }
    if (row->usage != memcg_usage(memcg) || row->flags & (EVICTD_USAGE_DYING | EVICTD_USAGE_WHOLE)) return false;
    row->flags |= EVICTD_USAGE_KEPT;
    pass_inactive_file += row->inactive_file;
    pass_active_file += row->active_file;
    read_stall(row);
    return true;
}

/* Of a cgroup with a row of its own. 1: no rows for what is below it. Global, hence verified once. */
__weak __noinline int read_row(struct evictd_usage* row, __u64 memcg_address, __u32 depth, bool v2) {
    struct mem_cgroup* memcg = (void*)memcg_address;
    struct cgroup* cgroup = LOAD(memcg, css.cgroup);
    bool dying = memcg_dying(memcg), whole = is_counted_whole(memcg_address, depth);
    if (!row) return 0;
    struct lru_sizes lru = {};
    bool is_known = is_of_last_pass(row, memcg);
    row->cgroup_id = cgroup_id(cgroup);
    row->serial = LOAD(memcg, css.serial_nr);
    row->level = LOAD(cgroup, level);
    row->flags = (dying ? EVICTD_USAGE_DYING : 0) | (whole ? EVICTD_USAGE_WHOLE : 0);
    /* Before its usage: a victim that ends meanwhile would be seen gone while its memory is still counted. */
    if (dying)
        row->processes = 0;
    else
        read_processes(row, cgroup, v2 && !whole, is_known);
    row->usage = memcg_usage(memcg);
    row->limit = memcg_max(memcg);
    if (whole)
        add_subtree_sizes((__u64)memcg, &lru);
    else if (row->usage)
        add_lru_sizes((__u64)memcg, &lru);
    __u64 before = row->inactive_file + row->active_file + row->anon;
    row->inactive_file = row->active_file = row->anon = 0;
    add_pages(row, &lru);
    /* Linux 7.x gives a removed cgroup's pages to the one above, some time after the removal. */
    pages_moved |= keep_unchanged & dying & (row->inactive_file + row->active_file + row->anon < before);
    read_stall(row);
    return whole;
}

static long usage_step(__u32 step, struct usage_walk* usage) {
    if (!usage->walk.seen) {
        struct mem_cgroup* memcg = (void*)usage->walk.at; /* css is the first member of struct mem_cgroup */
        fetch((__u64)memcg);
        __u64 left = memcg_dying(memcg) ? memcg_usage(memcg) : ~0ULL;
        if (left >= EVICTD_REMOVED_ROW) {
            __u32 index = usage_count++;
            struct evictd_usage* row = bpf_map_lookup_elem(&usage_rows, &index);
            remember_row(usage, index);
            if (row && !keep_row(row, (__u64)memcg))
                usage->walk.seen = read_row(row, (__u64)memcg, usage->walk.depth, usage->v2);
        } else {
            if (usage->walk.depth == 1) usage->rows[1] = usage->rows[2] = usage->rows[0];
            if (usage->walk.depth == 2) usage->rows[2] = usage->rows[1];
            if (left) add_remains(row_above(usage), (__u64)memcg);
        }
    }
    usage->over = walk_on(&usage->walk);
    return usage->over;
}

/* The root's row comes first, and a victim that ends during the pass would be seen gone while its memory is still in
 * the total: a second pod would pay for it. So the total is read once more, after everybody's processes. */
static __always_inline void read_total_again(struct mem_cgroup* root) {
    struct evictd_usage* row = bpf_map_lookup_elem(&usage_rows, &evictd_zero);
    if (row) row->usage = memcg_usage(root);
}

/* What is available on the node, in bytes, as the kubelet counts it and as the kernel does; as of the end of the pass.
 * /proc/meminfo says the same, and takes longer. Set to 0 by the agent before a pass. */
__u64 pass_node_available, pass_node_reclaimable;

/* Bytes, as cache_check.cpp: less does not matter for any threshold, and the node's counters are not up to date. */
#define LISTS_CHANGE (4 * 1024 * 1024LL)

/* The node's file pages beyond those of the pass, in bytes, when all rows were read last. */
__s64 inactive_elsewhere, active_elsewhere;

static __always_inline bool differ(__s64 a, __s64 b) { return a - b > LISTS_CHANGE || b - a > LISTS_CHANGE; }

/* Pages become active and inactive without a change of usage: a pod needs no rights to do that to its page cache, all
 * of it in a millisecond, and that alone may cross a threshold. The node's counters show it. */
static __always_inline void compare_lists(const struct node_pages* node, bool active_counts) {
    __s64 inactive = node->inactive_file * page_size - pass_inactive_file;
    __s64 active = node->active_file * page_size - pass_active_file;
    if (keep_unchanged) {
        if (differ(inactive, inactive_elsewhere)) pages_moved = 1;
        if (active_counts && differ(active, active_elsewhere)) pages_moved = 1;
    } else {
        inactive_elsewhere = inactive;
        active_elsewhere = active;
    }
}

/* Global, hence verified once, and with a stack of its own. */
__weak __noinline int read_node(bool active_counts) {
    struct node_pages pages = {};
    if (!root_memcg) {
        pages_moved |= keep_unchanged; /* not known */
        return 0;
    }
    count_node(root_memcg, &pages, true);
    compare_lists(&pages, active_counts);
    pass_node_available = kubelet_pages(&pages) * page_size;
    pass_node_reclaimable = reclaimable_pages(&pages) * page_size;
    return 0;
}

/* Gives the timer the file pages of this pass, and has it distrust its estimates for a while if the last was wrong. */
static __always_inline void tell_timer(const struct evictd_settings* current) {
    bool reclaimable = current->memory_available == EVICTD_AVAILABLE_RECLAIMABLE;
    __u64 cache = pass_inactive_file + (reclaimable ? pass_active_file : 0);
    if (estimated_threshold && pods_available(current, cache) >= estimated_threshold)
        distrusted_ns = bpf_ktime_get_ns();
    estimated_threshold = 0;
    if (keep_unchanged) return; /* a walk since may have found newer ones */
    walked_usage = memcg_usage(pods_memcg);
    walked_cache = cache;
}

/* An iterator over one task, the agent's: what it is for is the rcu_read_lock() around the program, under which no
 * cgroup of the walk is freed. Not one over cgroups: that would wait for cgroup_mutex, which whoever moves a process
 * between cgroups, as every start of a container does, holds over an RCU grace period: 10 to 40 ms. Nor over the
 * elements of a map: some kernels refuse those with EPERM. */
SEC("iter/task")
int read_usage(struct bpf_iter__task* ctx) {
    const struct evictd_settings* current = get_settings();
    if (!ctx->task || !current || !pods_root_alive(current)) return 0; /* once more without a task, at the end */
    struct usage_walk usage = {.walk = walk_from(pods_memcg), .v2 = current->hierarchy_id == 0, .over = seen_at_first};
    pass_inactive_file = pass_active_file = 0;
    bpf_loop(WALK_STEPS, usage_step, &usage, 0);
    if (!usage.over) usage_count = EVICTD_MAX_CGROUPS + 1; /* not all of it was read */
    pages_moved |= keep_unchanged & (usage_count != usage_known);
    read_total_again(pods_memcg);
    read_node(current->memory_available == EVICTD_AVAILABLE_RECLAIMABLE);
    if (!pages_moved && usage_count <= EVICTD_MAX_CGROUPS) tell_timer(current);
    return 0;
}

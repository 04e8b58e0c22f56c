/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* Is there less memory available than a threshold says? A bpf_timer compares inside the kernel and wakes the agent at
 * edges only. It chooses its next tick by how soon a threshold can possibly be reached. It decides nothing. */
#include "lib/kernel_types.h"

#include "lib/emit.bpf.h"
#include "lib/lru.bpf.h"
#include "lib/node_memory.bpf.h"
#include "lib/walk.bpf.h"
#include "lib/walk_pace.bpf.h"

const volatile __u64 page_size = 4096;
const volatile __u32 numa_nodes = 1;
const volatile __u32 has_rdonly_cast = 0;

/* The kernel's objects. The node's never go away; the pods' is checked by its id at every use. */
struct mem_cgroup* root_memcg;
struct mem_cgroup* pods_memcg;

/* stall.bpf.c: closes a slot of stalled time if it is over. In how many ns the next one is. */
extern int close_stall_slot(__u64 now);

struct timer_slot {
    struct bpf_timer timer;
};

/* Not pinned: it ends with the agent, and the timer with it. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct timer_slot);
} ticker SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, EVICTD_MAX_WATERMARKS);
    __type(key, __u32);
    __type(value, struct evictd_watermark);
} thresholds SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct evictd_timer_stats);
} timer SEC(".maps");

/* What the agent adds to an eviction's event: it reads this when one is published, never on its way there. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, EVICTD_HISTORY_SLOTS);
    __type(key, __u32);
    __type(value, struct evictd_sample);
} history SEC(".maps");

#define CLOCK_MONOTONIC 1

/* Back above a threshold counts after this long above it: a value that flaps around the line must not wake the agent a
 * thousand times a second. No longer: until the line is above, falling below it again is not reported, so the agent
 * looks itself, as often (look_when_disputed of policy/next_look). */
#define SETTLE_NS (5 * 1000 * 1000ULL)

volatile __u32 seen_at_first; /* see lib/walk.bpf.h */

struct cache_walk {
    struct walk walk;
    struct lru_sizes sizes;
};

static long cache_step(__u32 index, struct cache_walk* cache) {
    struct walk* walk = &cache->walk;
    struct mem_cgroup* memcg = (void*)walk->at; /* css is the first member of struct mem_cgroup */
    if (!walk->seen) {
        bool whole = is_counted_whole((__u64)memcg, walk->depth);
        /* Where nothing is charged there is nothing below it either. */
        walk->seen = whole || !memcg_usage(memcg);
        if (whole)
            add_subtree_sizes((__u64)memcg, &cache->sizes);
        else if (!walk->seen)
            add_lru_sizes((__u64)memcg, &cache->sizes);
    }
    return walk_on(walk);
}

/* The page cache that counts as available. */
static __always_inline __u64 pods_cache(enum evictd_memory_available counted, struct evictd_timer_stats* stats) {
    struct cache_walk cache = {.walk = walk_from(pods_memcg)};
    bpf_loop(WALK_STEPS, cache_step, &cache, 0);
    __u64 inactive = cache.sizes.list[LRU_INACTIVE_FILE] * page_size;
    __u64 active = cache.sizes.list[LRU_ACTIVE_FILE] * page_size;
    if (stats) {
        stats->walks++;
        stats->inactive_file = inactive;
        stats->active_file = active;
        stats->walked_ns = bpf_ktime_get_ns();
    }
    return inactive + (counted == EVICTD_AVAILABLE_RECLAIMABLE ? active : 0);
}

struct sample {
    __u64 now, node, pods;
    bool pods_known;
    enum { DISTRUSTED, ESTIMATED, EXACT } quality; /* of `pods` */
    __u64 highest;                                 /* of the pods' thresholds */
    __u64 distance;                                /* to the nearest threshold that is still above; ~0: none */
    struct evictd_settings* settings;
};

/* Limit minus usage is the least that can be available. Only where that is not enough, the file pages are added up by
 * walking all the pods' cgroups. */
static __always_inline void sample_pods(struct sample* sample, struct evictd_timer_stats* stats) {
    sample->pods_known = pods_root_alive(sample->settings);
    if (!sample->pods_known) return;
    sample->pods = pods_available(sample->settings, 0);
    bool near = sample->pods < sample->highest;
    bool walks = walk_due(sample->now, near);
    sample->quality = walks || !near ? EXACT : sample->now - distrusted_ns < DISTRUST_NS ? DISTRUSTED : ESTIMATED;
    __u64 cache = walked_cache; /* read once: a look beside this may write it */
    if (walks) {
        __u64 begin = bpf_ktime_get_ns();
        walked_usage = memcg_usage(pods_memcg); /* before: what is charged during the walk is a change */
        walked_cache = cache = pods_cache(sample->settings->memory_available, stats);
        walked_ns = sample->now;
        walk_cost_ns = bpf_ktime_get_ns() - begin;
    }
    if (walks || near) sample->pods = pods_available(sample->settings, cache);
}

/* The least of every tenth of a second. Global, hence verified once and not for each way that leads to it. */
__weak __noinline int remember(__u64 now, __u64 node, __u64 pods) {
    __u64 number = now / EVICTD_HISTORY_SLOT_NS;
    __u32 slot = number % EVICTD_HISTORY_SLOTS;
    struct evictd_sample* kept = bpf_map_lookup_elem(&history, &slot);
    if (!kept) return 0;
    bool first = kept->time_ns / EVICTD_HISTORY_SLOT_NS != number;
    if (first || node < kept->node_available) kept->node_available = node;
    if (first || pods < kept->pods_available) kept->pods_available = pods;
    kept->time_ns = now;
    return 0;
}

static __always_inline void report_edge(struct evictd_watermark* line, __u64 now, bool under) {
    struct evictd_watermark_event* event = reserve_event(EVICTD_EVENT_WATERMARK, evictd_watermark_event);
    if (!event) return; /* the line keeps its state: the edge is reported with the next tick */
    event->head.time_ns = now;
    event->threshold = line->threshold;
    event->available = line->available;
    event->signal = line->signal;
    event->under = under;
    line->state = under ? EVICTD_WATERMARK_UNDER : EVICTD_WATERMARK_ABOVE;
    line->above_since_ns = 0;
    if (under) line->crossings++;
    submit_event(event); /* last: the reader may re-arm the line immediately */
}

/* An estimate can report a fall, never a rise. The agent looks before it acts. */
static __always_inline void fell_under(struct evictd_watermark* line, struct sample* sample, int quality) {
    if (quality == DISTRUSTED) {
        sample->distance = 0; /* the next walk is to be soon */
        return;
    }
    if (quality == EXACT) line->above_since_ns = 0;
    if (line->state == EVICTD_WATERMARK_UNDER) return;
    if (quality == ESTIMATED && line->threshold > estimated_threshold) estimated_threshold = line->threshold;
    report_edge(line, sample->now, true);
}

static __always_inline void compare(struct evictd_watermark* line, __u64 available, struct sample* sample,
                                    int quality) {
    line->available = available;
    line->compared_ns = sample->now;
    if (line->threshold > available) { /* strictly, as thresholdsMet() */
        fell_under(line, sample, quality);
        return;
    }
    __u64 distance = available - line->threshold;
    if (distance < sample->distance) sample->distance = distance;
    if (quality != EXACT) return;
    if (line->state == EVICTD_WATERMARK_UNDER) {
        if (!line->above_since_ns) line->above_since_ns = sample->now;
        if (sample->now - line->above_since_ns >= SETTLE_NS) report_edge(line, sample->now, false);
    } else if (line->state == EVICTD_WATERMARK_UNKNOWN) {
        line->state = EVICTD_WATERMARK_ABOVE;
    }
}

static long find_highest(__u32 index, struct sample* sample) {
    const struct evictd_watermark* line = bpf_map_lookup_elem(&thresholds, &index);
    if (!line || line->state == EVICTD_WATERMARK_UNUSED || line->signal != EVICTD_SIGNAL_PODS_MEMORY) return 0;
    if (line->threshold > sample->highest) sample->highest = line->threshold;
    if (line->state == EVICTD_WATERMARK_ABOVE && line->threshold > highest_above) highest_above = line->threshold;
    return 0;
}

static long compare_line(__u32 index, struct sample* sample) {
    struct evictd_watermark* line = bpf_map_lookup_elem(&thresholds, &index);
    if (!line || line->state == EVICTD_WATERMARK_UNUSED) return 0;
    if (line->signal == EVICTD_SIGNAL_NODE_MEMORY)
        compare(line, sample->node, sample, EXACT);
    else if (line->signal == EVICTD_SIGNAL_PODS_MEMORY && sample->pods_known)
        compare(line, sample->pods, sample, sample->quality);
    return 0;
}

/* As late as a threshold can be reached, were all memory bandwidth spent on it; within the agent's bounds. */
static __always_inline __u64 next_period(const struct sample* sample) {
    const struct evictd_settings* settings = sample->settings;
    __u64 growth = settings->fastest_growth ? settings->fastest_growth : 1;
    __u64 period = settings->max_period_ns;
    if (sample->distance / growth < period / 1000000) period = sample->distance / growth * 1000000;
    if (period < settings->min_period_ns) period = settings->min_period_ns;
    return period;
}

static int on_tick(void* map, __u32* key, struct timer_slot* slot) {
    struct sample sample = {.now = bpf_ktime_get_ns(), .distance = ~0ULL, .settings = get_settings()};
    struct evictd_timer_stats* stats = bpf_map_lookup_elem(&timer, &evictd_zero);
    if (!sample.settings) return 0;
    sample.node = node_available(root_memcg, sample.settings->memory_available);
    highest_above = 0;
    bpf_loop(sample.settings->watermarks, find_highest, &sample, 0);
    sample_pods(&sample, stats);
    /* Between two walks, the file pages are those of the last. */
    remember(sample.now, sample.node, sample.pods_known ? pods_available(sample.settings, walked_cache) : ~0ULL);
    bpf_loop(sample.settings->watermarks, compare_line, &sample, 0);
    __u64 period = next_period(&sample);
    __u32 slot_left = close_stall_slot(sample.now);
    if (period > slot_left) period = slot_left;
    if (stats) {
        stats->ticks++;
        stats->last_period_ns = period;
        stats->node_available = sample.node;
        stats->pods_available = sample.pods;
        stats->last_tick_cost_ns = bpf_ktime_get_ns() - sample.now;
    }
    bpf_timer_start(&slot->timer, period, 0);
    return 0;
}

/* Run by the agent over the pods' root alone, whenever there is another one. */
SEC("iter/cgroup")
int find_pods_root(struct bpf_iter__cgroup* ctx) {
    struct cgroup* cgroup = ctx->cgroup;
    if (!cgroup) return 0;
    const struct evictd_settings* current = get_settings();
    if (current && cgroup->kn->id == current->pods_root_id) pods_memcg = memcg_of_cgroup(cgroup);
    return 0;
}

/* Run once by the agent: finds the root memory cgroup above the agent's own, and starts the timer. */
SEC("syscall")
int start_watermarks(void* ctx) {
    struct mem_cgroup* memcg = memcg_of_task((struct task_struct*)bpf_get_current_task());
    for (int depth = 0; depth < 64 && memcg; depth++) {
        root_memcg = memcg;
        memcg = memcg_parent(memcg);
    }
    struct timer_slot* slot = bpf_map_lookup_elem(&ticker, &evictd_zero);
    if (!slot || !root_memcg) return 1;
    bpf_timer_init(&slot->timer, &ticker, CLOCK_MONOTONIC);
    bpf_timer_set_callback(&slot->timer, on_tick);
    return bpf_timer_start(&slot->timer, 0, 0) ? 2 : 0;
}

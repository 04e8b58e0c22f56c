/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* When the timer of watermark.bpf.c walks over the pods' cgroups to add up their file pages, and what it knows of them
 * between two walks. */
#ifndef EVICTD_BPF_WALK_PACE_H
#define EVICTD_BPF_WALK_PACE_H

#include "lib/kernel_types.h"

#include "lib/maps.bpf.h"
#include "lib/walk.bpf.h"

/* Walking the pods' cgroups may take a twentieth of one CPU: from one walk to the next it is at least this many times
 * what the last one took. Between them the file pages are taken to be those of the last. */
#define WALK_SHARE 20

/* A look that finds more available than an edge between two walks said (file pages were added meanwhile): for so long
 * only walks report edges. */
#define DISTRUST_NS (1000 * 1000 * 1000ULL)

/* Where the last walk was so shortly before that its file pages say a threshold is crossed now, that is reported first:
 * the agent's look adds them up in any case, and to walk before would only make it wait. */
#define RECENT_NS (20 * 1000 * 1000ULL)

/* For the history the pods' file pages are also added up where no threshold is near: at most once a second and for at
 * most a two-thousandth of a CPU, but at least every ten seconds. While the usage of the pods' root stays the same,
 * every three seconds: most page cache that comes or goes changes it. Other changes (cache replaced by other memory,
 * pages that become active) appear in the history up to three seconds late. */
#define HISTORY_WALK_NS (1000 * 1000 * 1000ULL)
#define HISTORY_WALK_SHARE 2000
#define HISTORY_WALK_REST_NS (3 * HISTORY_WALK_NS)
#define HISTORY_WALK_MOST_NS (10 * HISTORY_WALK_NS)
/* Bytes: what four CPUs charge in advance (MEMCG_CHARGE_BATCH, 64 pages each). Half of it: more walks for nothing.
 * Double: the history may be wrong by as much. */
#define HISTORY_WALK_CHANGE (1024 * 1024ULL)

/* The last walk: when, what it took, and what was found by it or by the agent's look since (usage.bpf.c). */
__u64 walked_ns;
__u64 walk_cost_ns;
__u64 walked_cache;
__u64 walked_usage; /* of the pods' root, when walked_cache was found */

/* The highest threshold that was reported between two walks; 0 once a look has checked it. And when the last wrong one
 * was found. */
__u64 estimated_threshold;
__u64 distrusted_ns;

/* In a tick: the highest of the pods' thresholds that were not crossed so far. Not in struct sample: for what is on the
 * stack the verifier of 7.2 would walk through twice as many instructions. */
__u64 highest_above;

static __always_inline bool history_walk_due(__u64 now) {
    __u64 usage = memcg_usage(pods_memcg), rest = walk_cost_ns * HISTORY_WALK_SHARE;
    __u64 change = usage > walked_usage ? usage - walked_usage : walked_usage - usage;
    __u64 least = change < HISTORY_WALK_CHANGE ? HISTORY_WALK_REST_NS : HISTORY_WALK_NS;
    if (rest < least) rest = least;
    if (rest > HISTORY_WALK_MOST_NS) rest = HISTORY_WALK_MOST_NS;
    return now - walked_ns >= rest;
}

/* Whether to walk now. `near`: limit minus usage is less than a threshold. A walk that was interrupted, or whose
 * virtual CPU was taken away, seems to have taken seconds. Not if the file pages of a recent walk say that what is
 * available is less than the highest line above. Global, hence verified once. */
__weak __noinline int walk_due(__u64 now, bool near) {
    const struct evictd_settings* current = get_settings();
    if (!current) return 0;
    if (!near) return history_walk_due(now);
    __u64 rest = walk_cost_ns * WALK_SHARE, since = now - walked_ns;
    if (rest > current->max_period_ns) rest = current->max_period_ns;
    if (since < rest) return 0;
    return since >= RECENT_NS || now - distrusted_ns < DISTRUST_NS ||
           pods_available(current, walked_cache) >= highest_above;
}

#endif

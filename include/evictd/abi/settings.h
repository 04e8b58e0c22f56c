/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/* Values of the maps under /sys/fs/bpf/evictd, as bpftool prints them. Sizes in bytes, times in ns of CLOCK_MONOTONIC.
 */
#ifndef EVICTD_ABI_SETTINGS_H
#define EVICTD_ABI_SETTINGS_H

#include "evictd/abi/event.h"

/* Every threshold takes two lines: its value, and its value plus the minimum reclaim. 32 are four times what a
 * configuration with all kubelet signals needs. */
#define EVICTD_MAX_WATERMARKS 32

enum evictd_watermark_state {
    EVICTD_WATERMARK_UNUSED = 0,
    EVICTD_WATERMARK_UNKNOWN = 1, /* not compared yet */
    EVICTD_WATERMARK_ABOVE = 2,
    EVICTD_WATERMARK_UNDER = 3,
};

/* map "thresholds". The agent writes threshold, signal and state; the timer the rest. */
struct evictd_watermark {
    __u64 threshold;
    __u64 available;      /* at the last comparison */
    __u64 compared_ns;    /* when that was */
    __u64 above_since_ns; /* while UNDER: since when it is above again; 0: it is not */
    __u64 crossings;      /* times it was found under */
    enum evictd_signal signal;
    enum evictd_watermark_state state;
};

/* map "settings", one entry. */
struct evictd_settings {
    __u64 node_capacity;  /* MemTotal: the pods' limit where their cgroup has none */
    __u64 fastest_growth; /* bytes per ms that this machine can possibly allocate */
    __u64 min_period_ns;  /* of the timer */
    __u64 max_period_ns;
    __u64 pods_root_id;    /* cgroup id of the pods' root; 0: not found yet */
    __u32 pods_root_level; /* its depth in the hierarchy */
    __u32 hierarchy_id;    /* of the memory controller's hierarchy; 0: the v2 one */
    __u32 watermarks;      /* entries of "thresholds" in use, from 0 */
    __u32 unused;
};

/* map "drops": events that found the ring buffer full, by kind; in the order of enum evictd_event_type. */
struct evictd_drops {
    __u64 watermark;
    __u64 oom_kill;
    __u64 cgroup;
    __u64 memcg;
};
EVICTD_ASSERT(sizeof(struct evictd_drops) == (EVICTD_EVENT_TYPES - 1) * sizeof(__u64), "a counter for each event type");

/* map "timer": what the watermark timer does and costs. */
struct evictd_timer_stats {
    __u64 ticks;
    __u64 walks; /* times it added up the pods' inactive file pages */
    __u64 last_period_ns;
    __u64 last_tick_cost_ns;
    __u64 node_available;
    __u64 pods_available;
};

#define EVICTD_UID_LENGTH 40
#define EVICTD_NAME_LENGTH 96

/* map "pods", keyed by the pod's cgroup id; written by the agent after each look. */
struct evictd_pod {
    char uid[EVICTD_UID_LENGTH];
    char name[EVICTD_NAME_LENGTH]; /* namespace/name, cut to fit */
    __u64 usage;
    __u64 working_set;
    __u64 anon;
    __u64 file;
    __u64 request;
    __u32 processes;
    __u32 victim_rank; /* 0 goes first */
};

#endif

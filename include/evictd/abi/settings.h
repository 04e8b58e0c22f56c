/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
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
    __u64 available;      /* at the last comparison; between two walks over the pods an estimate */
    __u64 compared_ns;    /* when that was */
    __u64 above_since_ns; /* while UNDER: since when it is above again; 0: it is not */
    __u64 crossings;      /* times it was found under */
    enum evictd_signal signal;
    enum evictd_watermark_state state;
};

/* How what is available is counted: enum class MemoryAvailable. */
enum evictd_memory_available {
    EVICTD_AVAILABLE_KUBELET = 0,
    EVICTD_AVAILABLE_RECLAIMABLE = 1,
};

/* map "settings", one entry. */
struct evictd_settings {
    __u64 node_capacity;  /* MemTotal: the pods' limit where their cgroup has none */
    __u64 fastest_growth; /* bytes per ms that this machine can possibly allocate */
    __u64 min_period_ns;  /* of the timer */
    __u64 max_period_ns;
    __u64 pod_limit_period_ns; /* a pod that hits limits of its own is reported no more often */
    __u64 pods_root_id;        /* cgroup id of the pods' root; 0: not found yet */
    __u32 pods_root_level;     /* its depth in the hierarchy */
    __u32 hierarchy_id;        /* of the memory controller's hierarchy; 0: the v2 one */
    __u32 watermarks;          /* entries of "thresholds" in use, from 0 */
    enum evictd_memory_available memory_available;
};

/* map "timer": what the watermark timer does and costs. */
struct evictd_timer_stats {
    __u64 ticks;
    __u64 walks; /* times it added up the pods' inactive file pages */
    __u64 last_period_ns;
    __u64 last_tick_cost_ns;
    __u64 node_available;
    __u64 pods_available;
    __u64 walked_ns; /* when it last added them up; 0: never. What it found: */
    __u64 inactive_file;
    __u64 active_file;
};

/* Entries of the maps keyed by pod: ten times the pods of the largest nodes, and more than there are cgroups for. */
#define EVICTD_MAX_PODS 16384

/* map "sockets", keyed by the pod's cgroup id. IPv4 and IPv6 sockets of every protocol that some process holds. On v2 a
 * socket belongs to the pod that made it, on v1 to the first that a pass finds holding it. */
struct evictd_sockets {
    __u64 open;            /* as of the last pass */
    __u64 memory;          /* of their buffers, likewise */
    __u64 refused;         /* socket(2) that got EPERM because the pod was shed, in total */
    __u64 open_counting;   /* the pass that is under way */
    __u64 memory_counting; /* likewise */
};

/* Time lost to stalls is added up in slots of 100 ms. A power of two, and more than the 100 of the longest window: half
 * of it would not hold them, twice as much would only take memory. */
#define EVICTD_STALL_SLOT_NS 100000000ULL
#define EVICTD_STALL_SLOTS 128
#define EVICTD_RECLAIM_SLOTS 16 /* of 1 s */

/* map "stall", keyed by the pod's cgroup id; 0 is the node. The agent makes an entry for each pod it knows. */
struct evictd_stall {
    __u64 total_ns;           /* with at least one task stalled on memory, but for the stall that lasts now */
    __u64 stalling;           /* since when at least one does, in us, times 65536; plus how many do now */
    __u64 stalls;             /* that began */
    __u64 reclaimed;          /* bytes, by its own tasks while they stalled */
    __u64 reclaimed_for_node; /* of these, not at a limit of its own or of its containers */
    __u64 reclaims;           /* times they did */
    __u64 reclaims_failed;    /* times nothing came of it */
    __u64 lost_ns[EVICTD_STALL_WINDOWS]; /* when the last slot was closed, as are those below */
    __u64 reclaimed_10s;
    __u64 for_node_10s;
    __u64 closed_ns;
    __u64 closed_reclaimed;
    __u64 closed_for_node;
    __u32 over; /* bit n: the n-th line of "stall_lines" is reached */
    __u32 slots[EVICTD_STALL_SLOTS];
    __u32 reclaim_slots[EVICTD_RECLAIM_SLOTS]; /* KiB */
    __u32 for_node_slots[EVICTD_RECLAIM_SLOTS];
    __u32 unused;
};

/* Thresholds on stalls take one line each. */
#define EVICTD_MAX_STALL_LINES 16

enum evictd_stall_scope {
    EVICTD_STALL_NODE = 0,
    EVICTD_STALL_POD = 1, /* each pod by itself */
};

struct evictd_stall_line {
    __u64 lost_ns; /* within the window, to be reached; 0: unused */
    enum evictd_stall_window window;
    enum evictd_stall_scope scope;
};

/* map "stall_lines", one entry, written by the agent. */
struct evictd_stall_lines {
    struct evictd_stall_line line[EVICTD_MAX_STALL_LINES];
};

/* map "history": what was available, an entry for each tenth of a second, used in turn: half a minute and a bit. */
#define EVICTD_HISTORY_SLOTS 320
#define EVICTD_HISTORY_SLOT_NS 100000000ULL

struct evictd_sample {
    __u64 time_ns;        /* of the last comparison in it; 0: not used yet */
    __u64 node_available; /* the least within it */
    __u64 pods_available; /* likewise; ~0: there was no pods' cgroup */
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
    __u32 victim_rank; /* 1 goes first; 0: cannot be evicted */
};

#endif

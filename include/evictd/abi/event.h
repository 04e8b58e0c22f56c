/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* Records of the ring buffer, spoken by bpf/ and read by agent/kernel/decode. Both sides assert the sizes. A type's
 * number is never used again for something else. Times are CLOCK_MONOTONIC in ns, sizes in bytes unless said otherwise.
 */
#ifndef EVICTD_ABI_EVENT_H
#define EVICTD_ABI_EVENT_H

#include <linux/types.h>

enum evictd_event_type {
    EVICTD_EVENT_WATERMARK = 1,
    EVICTD_EVENT_OOM_KILL = 2,
    EVICTD_EVENT_CGROUP = 3,
    EVICTD_EVENT_MEMCG = 4,
    EVICTD_EVENT_SOCKETS = 5,
    EVICTD_EVENT_OOM_SCORE = 6,
    EVICTD_EVENT_STALL = 7,
    EVICTD_EVENT_TYPES, /* one more than the last */
};

/* map "drops": events that found the ring buffer full, by kind; in the order of enum evictd_event_type. */
struct evictd_drops {
    __u64 watermark;
    __u64 oom_kill;
    __u64 cgroup;
    __u64 memcg;
    __u64 sockets;
    __u64 oom_score;
    __u64 stall;
};

struct evictd_event {
    __u64 time_ns;
    __u32 type; /* enum evictd_event_type */
    __u32 size; /* of the whole record */
};

enum evictd_signal {
    EVICTD_SIGNAL_NODE_MEMORY = 1, /* memory.available */
    EVICTD_SIGNAL_PODS_MEMORY = 2, /* allocatableMemory.available */
};

struct evictd_watermark_event {
    struct evictd_event head;
    __u64 threshold;
    __u64 available;
    __u32 signal; /* enum evictd_signal */
    __u32 under;  /* 1: available fell under the threshold; 0: it is back above */
};

#define EVICTD_COMM_LENGTH 16

#define EVICTD_CGROUP_NAME_LENGTH 128 /* "cri-containerd-<64 digits>.scope" has 85 bytes; a longer one is cut */

enum evictd_oom_role {
    EVICTD_OOM_ROLE_UNKNOWN = 0,
    EVICTD_OOM_FIRST_PROCESS = 1, /* of those that are in its cgroup, the one that came first */
    EVICTD_OOM_CHILD = 2,
};

struct evictd_oom_event {
    struct evictd_event head;
    __u64 cgroup_id;       /* the victim's, in the memory hierarchy */
    __u64 limit_cgroup_id; /* whose limit was hit; 0: the whole machine ran out */
    __u64 pod_cgroup_id;   /* of the pod it is in, if map "pods" has it; 0: none we know */
    __u64 usage;           /* of limit_cgroup_id */
    __u64 limit;
    __s32 pid; /* thread group id in the initial pid namespace */
    __s32 oom_score_adj;
    __u32 role;  /* enum evictd_oom_role */
    __u32 group; /* 1: memory.oom.group, all processes of a cgroup are killed together */
    char comm[EVICTD_COMM_LENGTH];
    /* Name of the container's cgroup: the one directly below the pod's, else the victim's own. Empty: it is in the
     * pod's own. */
    char container[EVICTD_CGROUP_NAME_LENGTH];
};

/* Somebody wrote to a pod's process's oom_score_adj. */
struct evictd_oom_score_event {
    struct evictd_event head;
    __u64 cgroup_id;
    __u64 pod_cgroup_id;
    __s32 pid;
    __s32 oom_score_adj; /* what it is now */
};

enum evictd_cgroup_change {
    EVICTD_CGROUP_POPULATED = 3,
    EVICTD_CGROUP_EMPTIED = 4,
};

#define EVICTD_PATH_LENGTH                                                                     \
    256 /* kubelet paths have about 170 bytes; a longer one is cut, its id still identifies it \
         */

struct evictd_cgroup_event {
    struct evictd_event head;
    __u64 cgroup_id;
    __u32 change; /* enum evictd_cgroup_change */
    __u32 level;
    char path[EVICTD_PATH_LENGTH]; /* below the hierarchy's root */
};

enum evictd_memcg_limit {
    EVICTD_MEMCG_HIGH = 1,
    EVICTD_MEMCG_MAX = 2,
};

/* The pods' root, a pod or a container runs into its limit. */
struct evictd_memcg_event {
    struct evictd_event head;
    __u64 cgroup_id;     /* whose limit it is */
    __u64 pod_cgroup_id; /* of the pod it is or lies in; 0: it is the pods' root */
    __u64 usage;
    __u64 limit;
    __u64 hits; /* of all limits of the pod since its last record, this one included */
    __u32 kind; /* enum evictd_memcg_limit */
    __u32 unused;
    char container[EVICTD_CGROUP_NAME_LENGTH]; /* name of the container's cgroup; empty: it is the pod's or the root */
};

#define EVICTD_PROTOCOL_LENGTH 16

/* The kernel refused a socket memory for its buffers. The first three figures are of all sockets of the protocol. */
struct evictd_socket_event {
    struct evictd_event head;
    __u64 cgroup_id; /* of the pod whose socket it was; 0: no pod's */
    __u64 used;
    __u64 pressure; /* from here on buffers are kept small (the second figure of net.ipv4.tcp_mem) */
    __u64 limit;    /* the third: nothing more is given */
    char protocol[EVICTD_PROTOCOL_LENGTH];
};

/* Sliding windows over the time that tasks stall. */
enum evictd_stall_window {
    EVICTD_STALL_100MS = 0,
    EVICTD_STALL_1S = 1,
    EVICTD_STALL_10S = 2,
    EVICTD_STALL_WINDOWS,
};

/* Tasks stalled on memory for as long as a line says, or no longer do. */
struct evictd_stall_event {
    struct evictd_event head; /* its time is when the window closed */
    __u64 cgroup_id;          /* the pod's, in the memory hierarchy; 0: the node */
    __u64 lost_ns;            /* within the window */
    __u64 line_ns;            /* the line's */
    __u32 window;             /* enum evictd_stall_window */
    __u32 over;               /* 1: as long as the line or longer; 0: shorter again */
};

/* Rows of one pass over the pods' cgroups: 10,000 pods with a sandbox and three containers each are 50,001, and there
 * is room for a few of their own. The kernel keeps 5 MiB for it; the agent maps only what is in use. What does not
 * fit makes the pass an error. */
#define EVICTD_MAX_CGROUPS 65536

/* A pod with more cgroups than these, removed ones included, is counted as a whole. Ten times what a systemd or a small
 * cluster inside a pod has, and 0.2 ms of a pass: twice as much would be felt at each tick of the timer. */
#define EVICTD_MAX_POD_CGROUPS 1024

/* A removed cgroup that holds less has no row of its own: a node keeps thousands with a few pages each. */
#define EVICTD_REMOVED_ROW (1024 * 1024)

enum evictd_usage_flag {
    EVICTD_USAGE_POPULATED = 1, /* the kernel counts processes in it or below it */
    EVICTD_USAGE_DYING = 2,     /* removed; what was charged to it still is */
    EVICTD_USAGE_WHOLE = 4,     /* more cgroups below it than are read one by one: its page counts are of all of them */
    EVICTD_USAGE_KEPT = 8,      /* the row is that of the last pass: usage is the same */
};

/* One row of the usage iterator; parents come before their children. The four page counts are the cgroup's own, `usage`
 * includes its children's. */
struct evictd_usage {
    __u64 cgroup_id;
    __u64 serial; /* of the cgroup's memory controller: never given to another */
    __u64 usage;
    __u64 limit; /* ~0: none */
    __u64 inactive_file;
    __u64 active_file;
    __u64 anon;
    __u64 reclaimed;          /* by its tasks themselves in the last 10 s; a pod's own row only, as what follows */
    __u64 reclaimed_for_node; /* of these, not at a limit of its own or of its containers */
    __u32 level;
    __u32 processes;
    __u32 stalled_us[EVICTD_STALL_WINDOWS]; /* with at least one task stalled on memory */
    __u32 flags;                            /* enum evictd_usage_flag */
};

#ifdef __cplusplus
#define EVICTD_ASSERT static_assert
#else
#define EVICTD_ASSERT _Static_assert
#endif
EVICTD_ASSERT(sizeof(struct evictd_event) == 16, "ring buffer head");
EVICTD_ASSERT(sizeof(struct evictd_watermark_event) == 40, "watermark record");
EVICTD_ASSERT(sizeof(struct evictd_oom_event) == 88 + EVICTD_CGROUP_NAME_LENGTH, "oom record");
EVICTD_ASSERT(sizeof(struct evictd_oom_score_event) == 40, "oom score record");
EVICTD_ASSERT(sizeof(struct evictd_cgroup_event) == 32 + EVICTD_PATH_LENGTH, "cgroup record");
EVICTD_ASSERT(sizeof(struct evictd_memcg_event) == 64 + EVICTD_CGROUP_NAME_LENGTH, "memcg record");
EVICTD_ASSERT(sizeof(struct evictd_socket_event) == 64, "socket record");
EVICTD_ASSERT(sizeof(struct evictd_stall_event) == 48, "stall record");
EVICTD_ASSERT(sizeof(struct evictd_usage) == 96, "usage row");
EVICTD_ASSERT(sizeof(struct evictd_drops) == (EVICTD_EVENT_TYPES - 1) * sizeof(__u64), "a counter for each event type");

#endif

/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
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
    EVICTD_EVENT_TYPES, /* one more than the last */
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

struct evictd_oom_event {
    struct evictd_event head;
    __u64 cgroup_id;       /* the victim's, in the memory hierarchy */
    __u64 limit_cgroup_id; /* whose limit was hit; 0: the whole machine ran out */
    __u64 usage;           /* of limit_cgroup_id */
    __u64 limit;
    __s32 pid; /* thread group id in the initial pid namespace */
    __s32 oom_score_adj;
    char comm[EVICTD_COMM_LENGTH];
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

struct evictd_memcg_event {
    struct evictd_event head;
    __u64 cgroup_id;
    __u64 usage;
    __u64 limit;
    __u32 kind; /* enum evictd_memcg_limit */
    __u32 unused;
};

/* Rows of one pass over the pods' cgroups: 10,000 pods with a sandbox and three containers each are 50,001, and there
 * is room for a few of their own. The kernel keeps 3.5 MiB for it; the agent maps only what is in use. What does not
 * fit makes the pass an error. */
#define EVICTD_MAX_CGROUPS 65536

/* One row of the usage iterator; parents come before their children. The four page counts are the cgroup's own, `usage`
 * includes its children's. */
struct evictd_usage {
    __u64 cgroup_id;
    __u64 usage;
    __u64 limit; /* ~0: none */
    __u64 inactive_file;
    __u64 active_file;
    __u64 anon;
    __u32 level;
    __u32 processes;
};

#ifdef __cplusplus
#define EVICTD_ASSERT static_assert
#else
#define EVICTD_ASSERT _Static_assert
#endif
EVICTD_ASSERT(sizeof(struct evictd_event) == 16, "ring buffer head");
EVICTD_ASSERT(sizeof(struct evictd_watermark_event) == 40, "watermark record");
EVICTD_ASSERT(sizeof(struct evictd_oom_event) == 72, "oom record");
EVICTD_ASSERT(sizeof(struct evictd_cgroup_event) == 32 + EVICTD_PATH_LENGTH, "cgroup record");
EVICTD_ASSERT(sizeof(struct evictd_memcg_event) == 48, "memcg record");
EVICTD_ASSERT(sizeof(struct evictd_usage) == 56, "usage row");

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* Whose are the sockets, how many are open, what memory do their buffers take, and does the kernel refuse them any? And
 * the one thing done about it: who is in the map "shed" gets no new ones. Who that is, the agent says.
 * Nothing runs when a connection is made or closed: they are counted in passes over the open files. */
#include "lib/kernel_types.h"

#include <bpf/bpf_tracing.h>

#include "lib/cgroup.bpf.h"
#include "lib/emit.bpf.h"
#include "lib/lineage.bpf.h"
#include "lib/pod_name.bpf.h"

/* Of a socket that a pass has seen. Short-lived ones are seen by none, and get none. The kernel frees it with the
 * socket, so nothing here fills up. */
struct seen_socket {
    __u64 pod;  /* cgroup id */
    __u64 pass; /* that counted it last: a socket has as many files as it is open in processes, and more */
};
struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct seen_socket);
} seen_sockets SEC(".maps");

/* By the pod's cgroup id: until when (CLOCK_MONOTONIC) it gets no new sockets. The agent says so anew with each of its
 * looks, so that one that hangs refuses nobody for long. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, EVICTD_MAX_PODS);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, __u64);
    __type(value, __u64);
} shed SEC(".maps");

enum { REFUSE = 0, ALLOW = 1 };

#define CSS_ONLINE (1 << 1) /* of an unnamed enum in linux/cgroup-defs.h; what cgroup_is_dead() asks */

/* A pod that was not heard of: the topmost cgroup below the pods' root with a pod's name. Not one that is removed and
 * lives on in sockets that it made: nobody would hear of its end. */
static __attribute__((noinline)) struct evictd_sockets* new_pod(struct cgroup* inside, __u64* pod) {
    const struct evictd_settings* current = get_settings();
    struct lineage lineage = {};
    if (!current || !current->pods_root_id) return 0;
    int below = lineage_of(inside, current->pods_root_level, &lineage);
    if (!below || cgroup_id(lineage.at[0]) != current->pods_root_id) return 0;
    for (int depth = 1; depth <= POD_DEPTH && depth <= below; depth++) {
        struct cgroup* cgroup = lineage.at[depth];
        if (!names_a_pod((__u64)BPF_CORE_READ(cgroup, kn, name))) continue;
        if (!(BPF_CORE_READ(cgroup, self.flags) & CSS_ONLINE)) return 0;
        struct evictd_sockets none = {};
        *pod = cgroup_id(cgroup);
        bpf_map_update_elem(&sockets, pod, &none, BPF_NOEXIST);
        return bpf_map_lookup_elem(&sockets, pod);
    }
    return 0;
}

/* The counters of the pod that `cgroup` lies in, of the memory hierarchy; made if it is new. */
static __attribute__((noinline)) struct evictd_sockets* sockets_below(struct cgroup* cgroup, __u64* pod) {
    struct evictd_sockets* known = find_for_pod(&sockets, cgroup, pod);
    return known ? known : new_pod(cgroup, pod);
}

/* socket(2). In the context of who asks. */
SEC("cgroup/sock_create")
int on_sock_create(struct bpf_sock* ctx) {
    __u64 pod = 0;
    __u64* until = find_for_pod(&shed, memory_cgroup(bpf_get_current_task_btf()), &pod);
    if (!until || bpf_ktime_get_ns() >= *until) return ALLOW;
    struct evictd_sockets* counters = bpf_map_lookup_elem(&sockets, &pod);
    if (counters) __sync_fetch_and_add(&counters->refused, 1);
    return REFUSE;
}

static long begin_counting(void* map, __u64* pod, struct evictd_sockets* counters, void* nothing) {
    counters->open_counting = 0;
    counters->memory_counting = 0;
    return 0;
}

static long end_counting(void* map, __u64* pod, struct evictd_sockets* counters, void* nothing) {
    counters->open = counters->open_counting;
    counters->memory = counters->memory_counting;
    return 0;
}

/* On v2 the socket itself knows in which cgroup it was made, or the listening socket that it came in over. On v1 that
 * is the cgroup of a hierarchy that knows no pods: NULL. */
static __always_inline struct cgroup* made_in(struct sock* sk, struct cgroup* holder) {
    bool on_v2 = holder->root->hierarchy_id == 0;
    return on_v2 && bpf_core_field_exists(sk->sk_cgrp_data.cgroup) ? sk->sk_cgrp_data.cgroup : 0;
}

static __always_inline __u64 at_least_0(int bytes) { return bytes > 0 ? bytes : 0; }

/* What the kernel has charged for a socket's buffers: received, to be sent, and set aside. Over all of them it is what
 * /proc/net/sockstat and a v2 memory.stat ("sock") say, which have no figures by pod on hosts with v1. */
static __always_inline __u64 memory_of(struct sock* sk) {
    return at_least_0(sk->sk_backlog.rmem_alloc.counter) + at_least_0(sk->sk_wmem_queued) +
           at_least_0(sk->sk_forward_alloc);
}

__u64 pass_under_way;

SEC("iter/task_file")
int count_sockets(struct bpf_iter__task_file* ctx) {
    struct task_struct* task = ctx->task;
    struct file* file = ctx->file;
    __u64 pass = ctx->meta->session_id, pod = 0;
    if (pass_under_way != pass) {
        pass_under_way = pass;
        bpf_for_each_map_elem(&sockets, begin_counting, 0, 0);
    }
    if (!task || !file) {
        bpf_for_each_map_elem(&sockets, end_counting, 0, 0);
        return 0;
    }
    struct socket* socket = bpf_sock_from_file(file);
    struct sock* sk = socket ? socket->sk : 0;
    if (!sk || (sk->__sk_common.skc_family != AF_INET && sk->__sk_common.skc_family != AF_INET6)) return 0;
    struct seen_socket* seen = bpf_sk_storage_get(&seen_sockets, sk, 0, 0);
    if (seen && seen->pass == pass) return 0;
    struct evictd_sockets* counters = 0;
    if (seen) {
        pod = seen->pod;
        counters = bpf_map_lookup_elem(&sockets, &pod);
    }
    struct cgroup *holder = memory_cgroup(task), *maker = made_in(sk, holder);
    if (!counters && maker) counters = sockets_below(maker, &pod);
    if (!counters) counters = sockets_below(holder, &pod);
    if (!counters) return 0;
    if (!seen) seen = bpf_sk_storage_get(&seen_sockets, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
    if (!seen) return 0;
    seen->pod = pod;
    seen->pass = pass;
    counters->open_counting++;
    counters->memory_counting += memory_of(sk);
    return 0;
}

/* The pod that the socket's buffers are charged to; 0: none, or the kernel does not charge them to cgroups. */
static __always_inline __u64 charged_pod(struct sock* sk) {
    /* 6.18 keeps a flag of its own in the pointer's lowest bits. */
    struct mem_cgroup* memcg = (void*)((__u64)BPF_CORE_READ(sk, sk_memcg) & ~7ULL);
    __u64 pod = 0;
    return memcg && sockets_below(BPF_CORE_READ(memcg, css.cgroup), &pod) ? pod : 0;
}

#define REPORT_REFUSAL_EVERY_NS (1000 * 1000 * 1000ULL)

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1024); /* pods in trouble at the same time; an evicted entry only repeats itself */
    __type(key, __u64);
    __type(value, __u64);
} sockets_reported SEC(".maps");

/* Memory for a socket's buffers was refused: the protocol's (tcp_mem) is short, or the pod's cgroup is at its limit.
 * Said at most once a second for each pod. */
SEC("tp_btf/sock_exceed_buf_limit")
int BPF_PROG(on_socket_memory_short, struct sock* sk, struct proto* protocol, long allocated) {
    long figures[3] = {}; /* pages: all is well below, pressure, limit */
    bpf_probe_read_kernel(figures, sizeof(figures), protocol->sysctl_mem);
    __u64 pod = charged_pod(sk), now = bpf_ktime_get_ns();
    if (!pod && allocated <= figures[1]) return 0; /* neither a pod's affair nor the node's */
    __u64* last = bpf_map_lookup_elem(&sockets_reported, &pod);
    if (last && now - *last < REPORT_REFUSAL_EVERY_NS) return 0;
    bpf_map_update_elem(&sockets_reported, &pod, &now, BPF_ANY);
    struct evictd_socket_event* event = reserve_event(EVICTD_EVENT_SOCKETS, evictd_socket_event);
    if (!event) return 0;
    event->cgroup_id = pod;
    event->used = pages_to_bytes(allocated);
    event->pressure = pages_to_bytes(figures[1]);
    event->limit = pages_to_bytes(figures[2]);
    if (BPF_CORE_READ_STR_INTO(&event->protocol, protocol, name) < 0) event->protocol[0] = 0;
    submit_event(event);
    return 0;
}

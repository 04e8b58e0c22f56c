/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose are the sockets, how many are open, what memory do their buffers take, and does the kernel refuse them any? And
 * the one thing done about it: who is in the map "shed" gets no new ones. Who that is, the agent says. */
#include "lib/kernel_types.h"

#include <bpf/bpf_tracing.h>

#include "lib/cgroup.bpf.h"
#include "lib/emit.bpf.h"

/* A socket's owner goes where the socket goes, whoever holds or closes it in the end. With BPF_F_CLONE the kernel
 * copies it from a listening socket to each connection that comes in over it. */
struct sock_owner {
    __u64 pod;  /* cgroup id */
    __u32 open; /* counted in the pod's `open` */
    __u32 unused;
};
struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
    __type(key, int);
    __type(value, struct sock_owner);
} sock_owners SEC(".maps");

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

/* The agent's rule (agent/kernel/pod_name.cpp), as far as it matters here: "pod<uid>" with the cgroupfs driver,
 * "kubepods-burstable-pod<uid>.slice" with systemd's. The longest that comes before is "kubelet-kubepods-besteffort".
 */
#define POD_WITHIN 32
static __attribute__((noinline)) bool names_a_pod(struct cgroup* cgroup) {
    char name[POD_WITHIN + 4] = {};
    bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(cgroup, kn, name));
    bool found = name[0] == 'p' && name[1] == 'o' && name[2] == 'd';
    for (int i = 0; i < POD_WITHIN; i++)
        found |= name[i] == '-' && name[i + 1] == 'p' && name[i + 2] == 'o' && name[i + 3] == 'd';
    return found;
}

/* Where the task's memory is charged. Loads, not calls of bpf_probe_read_kernel(): this is on the way of every socket.
 */
static __always_inline struct cgroup_subsys_state* memory_css(struct task_struct* task) {
    void* set = task->cgroups;
    return *(struct cgroup_subsys_state**)(set + bpf_core_field_offset(struct css_set, subsys) +
                                           bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id) * sizeof(void*));
}

/* A pod that was not heard of: the topmost cgroup below the pods' root with a pod's name. */
static __attribute__((noinline)) struct evictd_sockets* new_pod(struct cgroup** ancestors, int level, __u64* pod) {
    const struct evictd_settings* current = get_settings();
    if (!current || !ancestors || !pod || cgroup_id(ancestors[0]) != current->pods_root_id) return 0;
    for (int depth = 1; depth <= POD_DEPTH && depth <= level; depth++) {
        if (!names_a_pod(ancestors[depth])) continue;
        struct evictd_sockets none = {};
        *pod = cgroup_id(ancestors[depth]);
        bpf_map_update_elem(&sockets, pod, &none, BPF_NOEXIST);
        return bpf_map_lookup_elem(&sockets, pod);
    }
    return 0;
}

/* The counters of the pod in whose memory cgroup the task is, made if it is new. On hybrid hosts that is all there is
 * to go by: in the v2 hierarchy, which these programs hang on, all pods may sit in one cgroup. */
static __always_inline struct evictd_sockets* sockets_of_task(struct task_struct* task, __u64* pod) {
    const struct evictd_settings* current = get_settings();
    if (!current || !current->pods_root_id) return 0;
    struct cgroup_subsys_state* css = memory_css(task);
    struct cgroup* cgroup = css->cgroup;
    int level = cgroup->level - (int)current->pods_root_level;
    if (level < 1) return 0;
    struct cgroup* ancestors[1 + POD_DEPTH] = {}; /* the pods' root, if it is that, and what is below it */
    cgroup = BPF_CORE_READ(css, cgroup);          /* as a number, to which one may add another */
    bpf_probe_read_kernel(
        ancestors, level < POD_DEPTH ? (1 + 1) * sizeof(void*) : sizeof(ancestors),
        (void*)cgroup + bpf_core_field_offset(struct cgroup, ancestors) + current->pods_root_level * sizeof(void*));
    /* Most pods have a class above them. Those that are known are below the pods' root. */
    for (int depth = POD_DEPTH; depth > 0; depth--) {
        if (depth > level) continue;
        *pod = cgroup_id(ancestors[depth]);
        struct evictd_sockets* known = bpf_map_lookup_elem(&sockets, pod);
        if (known) return known;
    }
    return new_pod(ancestors, level, pod);
}

static __always_inline bool is_shed(__u64 pod) {
    __u64* until = bpf_map_lookup_elem(&shed, &pod);
    return until && bpf_ktime_get_ns() < *until;
}

/* socket(2). In the context of who asks. */
SEC("cgroup/sock_create")
int on_sock_create(struct bpf_sock* ctx) {
    struct sock_owner owner = {.open = 1};
    struct evictd_sockets* counters = sockets_of_task(bpf_get_current_task_btf(), &owner.pod);
    if (!counters) return ALLOW;
    if (is_shed(owner.pod)) {
        __sync_fetch_and_add(&counters->refused, 1);
        return REFUSE;
    }
    if (bpf_get_retval() < 0) return ALLOW; /* somebody else's program has refused it: it will not be closed */
    if (!bpf_sk_storage_get(&sock_owners, ctx, &owner, BPF_SK_STORAGE_GET_F_CREATE)) return ALLOW;
    __sync_fetch_and_add(&counters->created, 1);
    __sync_fetch_and_add(&counters->open, 1);
    return ALLOW;
}

static __always_inline void count_closed(struct sock_owner* owner) {
    if (!__sync_lock_test_and_set(&owner->open, 0)) return;
    struct evictd_sockets* counters = bpf_map_lookup_elem(&sockets, &owner->pod);
    if (counters) __sync_fetch_and_add(&counters->open, -1);
}

/* The last descriptor of a socket is closed, by whoever. */
SEC("cgroup/sock_release")
int on_sock_release(struct bpf_sock* ctx) {
    struct sock_owner* owner = bpf_sk_storage_get(&sock_owners, ctx, 0, 0);
    if (owner) count_closed(owner);
    return ALLOW;
}

/* Connections that come in are made in the kernel, by no socket(2). One that nobody accepts ends without a release. */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_sock_state, struct sock* sk, int from, int to) {
    bool comes_in = from == TCP_LISTEN && to == TCP_SYN_RECV;
    if (!comes_in && (to != TCP_CLOSE || sk->sk_socket)) return 0;
    struct sock_owner* owner = bpf_sk_storage_get(&sock_owners, sk, 0, 0);
    if (!owner) return 0;
    if (!comes_in) {
        count_closed(owner);
        return 0;
    }
    owner->open = 1;
    struct evictd_sockets* counters = bpf_map_lookup_elem(&sockets, &owner->pod);
    if (!counters) return 0;
    __sync_fetch_and_add(&counters->incoming, 1);
    __sync_fetch_and_add(&counters->open, 1);
    return 0;
}

/* Those that were open before: they belong to the first pod found holding them. */
SEC("iter/task_file")
int count_open_files(struct bpf_iter__task_file* ctx) {
    struct task_struct* task = ctx->task;
    struct file* file = ctx->file;
    if (!task || !file) return 0;
    struct socket* socket = bpf_sock_from_file(file);
    struct sock* sk = socket ? socket->sk : 0;
    if (!sk || (sk->__sk_common.skc_family != AF_INET && sk->__sk_common.skc_family != AF_INET6)) return 0;
    if (bpf_sk_storage_get(&sock_owners, sk, 0, 0)) return 0; /* counted when it was made, or a moment ago */
    struct sock_owner owner = {.open = 1};
    struct evictd_sockets* counters = sockets_of_task(task, &owner.pod);
    if (counters && bpf_sk_storage_get(&sock_owners, sk, &owner, BPF_SK_STORAGE_GET_F_CREATE))
        __sync_fetch_and_add(&counters->open, 1);
    return 0;
}

__u64 memory_session; /* of the pass under way */

static long begin_counting(void* map, __u64* pod, struct evictd_sockets* counters, void* nothing) {
    counters->memory_counting = 0;
    return 0;
}

static long end_counting(void* map, __u64* pod, struct evictd_sockets* counters, void* nothing) {
    counters->memory = counters->memory_counting;
    return 0;
}

static __always_inline __u64 at_least_0(int bytes) { return bytes > 0 ? bytes : 0; }

/* What the kernel has charged for a socket's buffers: received, to be sent, and set aside. Over all of them it is what
 * /proc/net/sockstat and a v2 memory.stat ("sock") say, which have no figures by pod on hosts with v1. */
SEC("iter/bpf_sk_storage_map")
int add_socket_memory(struct bpf_iter__bpf_sk_storage_map* ctx) {
    if (ctx->meta->session_id != memory_session) {
        memory_session = ctx->meta->session_id;
        bpf_for_each_map_elem(&sockets, begin_counting, 0, 0);
    }
    struct sock* sk = ctx->sk;
    struct sock_owner* owner = ctx->value;
    if (!sk || !owner) {
        bpf_for_each_map_elem(&sockets, end_counting, 0, 0);
        return 0;
    }
    __u64 pod = owner->pod;
    struct evictd_sockets* counters = bpf_map_lookup_elem(&sockets, &pod);
    if (counters)
        counters->memory_counting += at_least_0(sk->sk_backlog.rmem_alloc.counter) + at_least_0(sk->sk_wmem_queued) +
                                     at_least_0(sk->sk_forward_alloc);
    return 0;
}

#define REPORT_EVERY_NS (1000 * 1000 * 1000ULL)

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
    struct sock_owner* owner = bpf_sk_storage_get(&sock_owners, sk, 0, 0);
    __u64 pod = owner ? owner->pod : 0, now = bpf_ktime_get_ns();
    if (!pod && allocated <= figures[1]) return 0; /* neither a pod's affair nor the node's */
    __u64* last = bpf_map_lookup_elem(&sockets_reported, &pod);
    if (last && now - *last < REPORT_EVERY_NS) return 0;
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

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* How much memory is available on the node, from the counters of its NUMA nodes: as the kubelet counts it, and as the
 * kernel does. */
#ifndef EVICTD_BPF_NODE_MEMORY_H
#define EVICTD_BPF_NODE_MEMORY_H

#include "lib/kernel_types.h"

#include "lib/lru.bpf.h"

/* Pages, over all NUMA nodes. */
struct node_pages {
    __u64 free, inactive_file, active_file, slab_reclaimable, misc_reclaimable;
    __u64 reserved; /* totalreserve_pages: what the zones' high watermarks and lowmem reserves keep */
    __u64 low;      /* the zones' low watermarks */
};

/* A counter that several CPUs add to may be negative for a moment. */
static __always_inline __u64 count_at(const void* at) {
    long count = (long)load(at, sizeof(long));
    return count > 0 ? count : 0;
}

#define node_stat_at(pgdat, item)                                                        \
    count_at((const void*)(pgdat) + bpf_core_field_offset(struct pglist_data, vm_stat) + \
             8 * bpf_core_enum_value(enum node_stat_item, item))

static __always_inline void add_zone(const void* zone, struct node_pages* pages, bool all) {
    pages->free += count_at(zone + bpf_core_field_offset(struct zone, vm_stat) +
                            8 * bpf_core_enum_value(enum zone_stat_item, NR_FREE_PAGES));
    if (!all) return;
    pages->low += count_at(zone + bpf_core_field_offset(struct zone, _watermark) +
                           8 * bpf_core_enum_value(enum zone_watermarks, WMARK_LOW)) +
                  count_at(zone + bpf_core_field_offset(struct zone, watermark_boost)); /* low_wmark_pages() */
}

/* Global, hence verified once and not for each node; such a function takes a kernel address as a number. Only the free
 * and the inactive file pages, unless `all` are asked for. */
__weak __noinline int add_node_pages(__u64 pgdat, struct node_pages* pages, bool all) {
    if (!pages) return 0;
    const void* zones = (const void*)pgdat + bpf_core_field_offset(struct pglist_data, node_zones);
    int count = LOAD((struct pglist_data*)pgdat, nr_zones);
    for (int zone = 0; zone < MAX_ZONES && zone < count; zone++)
        add_zone(zones + zone * bpf_core_type_size(struct zone), pages, all);
    pages->inactive_file += node_stat_at(pgdat, NR_INACTIVE_FILE);
    if (!all) return 0;
    pages->active_file += node_stat_at(pgdat, NR_ACTIVE_FILE);
    pages->slab_reclaimable += node_stat_at(pgdat, NR_SLAB_RECLAIMABLE_B); /* of a node in pages, whatever its name */
    pages->misc_reclaimable += node_stat_at(pgdat, NR_KERNEL_MISC_RECLAIMABLE);
    pages->reserved += LOAD((struct pglist_data*)pgdat, totalreserve_pages);
    return 0;
}

/* What the kubelet's MemTotal - workingSet comes to. */
static __always_inline __u64 kubelet_pages(const struct node_pages* pages) {
    return pages->free + pages->inactive_file;
}

/* Of what can be reclaimed the kernel keeps some: half of it, or its low watermarks. */
static __always_inline __u64 without_kept(__u64 pages, __u64 low) {
    return pages - (pages / 2 < low ? pages / 2 : low);
}

/* si_mem_available(), term by term: what /proc/meminfo has as MemAvailable. */
static __always_inline __u64 reclaimable_pages(const struct node_pages* pages) {
    __u64 sum = pages->free + without_kept(pages->inactive_file + pages->active_file, pages->low) +
                without_kept(pages->slab_reclaimable + pages->misc_reclaimable, pages->low);
    return sum > pages->reserved ? sum - pages->reserved : 0;
}

/* Over all nodes. `root`: the root memory cgroup, for the way to them. Another one may lack a node that it
 * has not used yet (lruvec.pgdat). */
static __always_inline void count_node(struct mem_cgroup* root, struct node_pages* pages, bool all) {
    for (__u32 nid = 0; nid < MAX_NUMA_NODES && nid < numa_nodes; nid++) {
        struct mem_cgroup_per_node* node = LOAD_POINTER(root, struct mem_cgroup, nodeinfo, nid);
        struct pglist_data* pgdat = node ? LOAD(node, lruvec.pgdat) : 0;
        if (pgdat) add_node_pages((__u64)pgdat, pages, all);
    }
}

/* Bytes. */
static __always_inline __u64 node_available(struct mem_cgroup* root, enum evictd_memory_available counted) {
    bool all = counted == EVICTD_AVAILABLE_RECLAIMABLE;
    struct node_pages pages = {};
    count_node(root, &pages, all);
    return (all ? reclaimable_pages(&pages) : kubelet_pages(&pages)) * page_size;
}

#endif

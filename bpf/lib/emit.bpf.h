/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* Sending a record to the agent. A record that finds no room is counted by its type: the agent reads the counters and
 * publishes every loss. */
#ifndef EVICTD_BPF_EMIT_H
#define EVICTD_BPF_EMIT_H

#include "lib/kernel_types.h"

#include "lib/maps.bpf.h"

static __always_inline void count_drop(enum evictd_event_type type) {
    struct evictd_drops* counters = bpf_map_lookup_elem(&drops, &evictd_zero);
    if (counters) __sync_fetch_and_add((__u64*)counters + type - 1, 1);
}

/* reserve_event(TYPE, TAG): room for a `struct TAG` with its head filled in, or NULL. */
#define reserve_event(event_type, tag)                                           \
    ({                                                                           \
        struct tag* record_ = bpf_ringbuf_reserve(&events, sizeof(*record_), 0); \
        if (record_) {                                                           \
            record_->head.time_ns = bpf_ktime_get_ns();                          \
            record_->head.type = (event_type);                                   \
            record_->head.size = sizeof(*record_);                               \
        } else {                                                                 \
            count_drop(event_type);                                              \
        }                                                                        \
        record_;                                                                 \
    })

#define submit_event(record) bpf_ringbuf_submit((record), 0)

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* Reads of kernel memory by a load each. bpf_probe_read_kernel() is a call that checks the address and copies in a
 * loop: where much is read, it is most of what a program costs. Since 6.2 a number can be made a pointer to one of the
 * kernel's types (bpf_rdonly_cast(), which the verifier replaces by a move), and is read by a load, which yields 0 if
 * it faults. */
#ifndef EVICTD_BPF_LOAD_H
#define EVICTD_BPF_LOAD_H

#include "lib/kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Set by the agent before loading: whether the running kernel has bpf_rdonly_cast(). */
extern const volatile __u32 has_rdonly_cast;

extern void* bpf_rdonly_cast(const void* object, __u32 btf_id) __ksym __weak;

/* `size`: 1, 2, 4 or 8 bytes. The type stands for any two longs: what is read is a number for the verifier, and where
 * it is was computed from the running kernel's BTF. */
static __always_inline __u64 load(const void* at, __u32 size) {
    if (has_rdonly_cast) {
        const void* longs = bpf_rdonly_cast(at, bpf_core_type_id_kernel(struct timespec64));
        if (size == 1) return *(const volatile __u8*)longs;
        if (size == 2) return *(const volatile __u16*)longs;
        if (size == 4) return *(const volatile __u32*)longs;
        return *(const volatile __u64*)longs;
    }
    __u64 value = 0;
    bpf_probe_read_kernel(&value, size, at);
    return value;
}

/* The value of a member that is a number or a pointer, as BPF_CORE_READ() has it. */
#define LOAD(base, member)                                                                              \
    ((typeof((base)->member))load((const void*)(base) + bpf_core_field_offset(typeof(*(base)), member), \
                                  sizeof((base)->member)))

/* `count` longs. `most`: known when this is compiled. */
static __always_inline void load_longs(long* into, const void* at, __u32 count, __u32 most) {
    if (has_rdonly_cast) {
        for (__u32 i = 0; i < most && i < count; i++) into[i] = (long)load(at + i * sizeof(long), sizeof(long));
    } else {
        bpf_probe_read_kernel(into, count * sizeof(long), at);
    }
}

/* Element `index` of an array of pointers, of a length that only the running kernel knows. */
#define LOAD_POINTER(base, type, member, index) \
    ((void*)load((const void*)(base) + bpf_core_field_offset(type, member) + (index) * sizeof(void*), sizeof(void*)))

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* Whether a cgroup is a pod's, by its name: for programs that must know it of pods that are not in the map "pods" yet.
 */
#ifndef EVICTD_BPF_POD_NAME_H
#define EVICTD_BPF_POD_NAME_H

#include "lib/kernel_types.h"

#include <bpf/bpf_helpers.h>

/* The agent's rule (agent/kernel/pod_name.cpp), as far as it matters here: "pod<uid>" with the cgroupfs driver,
 * "kubepods-burstable-pod<uid>.slice" with systemd's. The longest that comes before is "kubelet-kubepods-besteffort".
 */
#define POD_WITHIN 32
/* Global: verified once, and not at each call. */
__weak __noinline int names_a_pod(__u64 name_at) {
    char name[POD_WITHIN + 4] = {};
    bpf_probe_read_kernel_str(name, sizeof(name), (void*)name_at);
    bool found = name[0] == 'p' && name[1] == 'o' && name[2] == 'd';
    for (int i = 0; i < POD_WITHIN; i++)
        found |= name[i] == '-' && name[i + 1] == 'p' && name[i + 2] == 'o' && name[i + 3] == 'd';
    return found;
}

#endif

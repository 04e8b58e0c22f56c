/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* All programs, compiled as one: they share maps and variables, and bpftool's linker refuses objects that call
 * functions of the kernel (lib/load.bpf.h). The map "pods" is there whichever programs load: the agent and bpftool use
 * it, too. */
#include "cgroup_life.bpf.c"
#include "lib/pods.bpf.h"
#include "memcg.bpf.c"
#include "oom.bpf.c"
#include "oom_score.bpf.c"
#include "sock.bpf.c"
#include "stall.bpf.c"
#include "usage.bpf.c"
#include "watermark.bpf.c"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

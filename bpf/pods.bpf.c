/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright The evictd authors */
/* The map "pods" is there whichever programs load: the agent and bpftool use it, too. */
#include "lib/pods.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

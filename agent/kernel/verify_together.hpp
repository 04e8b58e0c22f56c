// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Loads an object whose programs the kernel verifies on several CPUs at once. libbpf has one verified after the other,
// which is half of an agent's start.
#pragma once

struct evictd_bpf;

namespace evictd::kernel {

struct Choice;

// Before the object is opened, once for the program: from then on libbpf does not find by itself what programs are
// attached to, so each needs set_targets().
void prepare_to_verify_together();
// A program whose target is not there is refused when it is loaded.
void set_targets(const evictd_bpf& skeleton, const Choice& choice);
// Its threads have ended when it returns. False: a program was refused, or something else failed, and the object is of
// no use. Why is only told by libbpf, when it loads an object that was opened anew.
[[nodiscard]] bool verify_together(evictd_bpf& skeleton);

}  // namespace evictd::kernel

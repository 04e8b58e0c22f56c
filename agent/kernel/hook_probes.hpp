// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whether the running kernel takes a program at a hook, asked by loading one of two instructions there. That it takes
// our own program too is only known when that is loaded: loader.hpp.
#pragma once

#include "kernel/programs.hpp"

struct btf;

namespace evictd::kernel {

// 0, or the errno with which the kernel refuses it. `kernel`: the running kernel's BTF.
[[nodiscard]] int probe_hook(const btf* kernel, const Candidate& candidate);

}  // namespace evictd::kernel

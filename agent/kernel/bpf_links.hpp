// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a program hangs on in the kernel: taken off when the link is destroyed.
#pragma once

#include <memory>

#include <linux/bpf.h>

#include "evictd/model/result.hpp"
#include "sys/fd.hpp"

struct bpf_link;
struct bpf_program;

namespace evictd::kernel {

struct FreeLink {
    void operator()(bpf_link* link) const;
};
using Link = std::unique_ptr<bpf_link, FreeLink>;

// An iterator over the cgroup that `directory` is, and those below it if the order says so. Null: see errno.
[[nodiscard]] Link attach_cgroup_iterator(bpf_program* program, const sys::Fd& directory, bpf_cgroup_iter_order order);

// An iterator over one task, this process's main thread. Null: see errno.
[[nodiscard]] Link attach_own_task_iterator(bpf_program* program);

// Lets an iterator go over everything. What it finds, it leaves in the maps. `what`: for errors.
[[nodiscard]] Status run_iterator(const bpf_link* link, const char* what);

}  // namespace evictd::kernel

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A system call that fails with an error which no test can cause otherwise: a full table of files, a broken disk.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

namespace evictd::fakes {

// Runs `work` in a thread of its own, in which each call of `number` (SYS_openat) fails with `error_number`. False: the
// kernel has no seccomp filters, and `work` was not run.
[[nodiscard]] inline bool with_failing(long number, int error_number, const std::function<void()>& work) {
    bool is_filtered = false;
    std::thread([&] {
        std::array<sock_filter, 4> program{{
            {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
            {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<unsigned int>(number)},
            {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | static_cast<unsigned int>(error_number)},
            {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
        }};
        const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
        is_filtered = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
        if (is_filtered) work();
    }).join();
    return is_filtered;
}

}  // namespace evictd::fakes

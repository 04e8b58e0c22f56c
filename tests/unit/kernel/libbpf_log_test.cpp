// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/libbpf_log.hpp"

#include <gtest/gtest.h>

namespace evictd::kernel {
namespace {

TEST(LibbpfLog, TheVerifiersLastLineIsWhyAndNotItsStatistics) {
    const auto refusal = refusal_in(
        "libbpf: prog 'read_usage': BPF program load failed: Invalid argument\n"
        "libbpf: prog 'read_usage': -- BEGIN PROG LOAD LOG --\n"
        "508: <invalid CO-RE relocation>\n"
        "failed to resolve CO-RE relocation <byte_off> [72] struct a.b (0:1 @ offset 32)\n"
        "processed 1051 insns (limit 1000000) max_states_per_insn 7 total_states 78 peak_states 78 mark_read 0\n"
        "-- END PROG LOAD LOG --\n"
        "libbpf: prog 'read_usage': failed to load: -22\n"
        "libbpf: failed to load object 'evictd_bpf'\n");
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->program, "read_usage");
    EXPECT_EQ(refusal->why, "failed to resolve CO-RE relocation <byte_off> [72] struct a.b (0:1 @ offset 32)");
}

TEST(LibbpfLog, WithoutAVerifiersLogTheFirstLineAboutTheProgramIsWhy) {
    const auto refusal = refusal_in(
        "libbpf: prog 'on_oom_kill_process': failed to find kernel BTF type ID of 'oom_kill_process': -3\n"
        "libbpf: prog 'on_oom_kill_process': failed to prepare load attributes: -3\n"
        "libbpf: failed to load object 'evictd_bpf'\n");
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->program, "on_oom_kill_process");
    EXPECT_NE(refusal->why.find("failed to find kernel BTF type ID"), std::string::npos) << refusal->why;
}

TEST(LibbpfLog, ALogThatWasCutAtItsBeginningStillHasTheReason) {
    const auto refusal = refusal_in(
        "R1 invalid mem access 'scalar'\nprocessed 9 insns\n-- END PROG LOAD LOG --\n"
        "libbpf: prog 'x': failed to load: -13\n");
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->program, "x");
    EXPECT_EQ(refusal->why, "R1 invalid mem access 'scalar'");
}

TEST(LibbpfLog, WhatIsNoProgramsFaultNamesNone) {
    EXPECT_FALSE(refusal_in("libbpf: map 'events': failed to create: Operation not permitted(-1)\n"));
    EXPECT_FALSE(refusal_in(""));
    EXPECT_EQ(last_line("libbpf: map 'events': failed to create: Operation not permitted(-1)\n"),
              "map 'events': failed to create: Operation not permitted(-1)");
    EXPECT_EQ(last_line(""), "");
}

}  // namespace
}  // namespace evictd::kernel

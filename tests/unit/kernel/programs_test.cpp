// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The table of candidates against the compiled programs. Whether a kernel takes them is asked in tests/kernel.
#include "kernel/programs.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <bpf/libbpf.h>
#include <evictd/skeleton.h>
#include <gtest/gtest.h>

namespace evictd::kernel {
namespace {

struct FreeSkeleton {
    void operator()(evictd_bpf* skeleton) const { evictd_bpf__destroy(skeleton); }
};

// What libbpf makes of a program's section.
struct Compiled {
    bpf_prog_type type;
    bpf_attach_type attach;
    std::string section;
};

std::map<std::string, Compiled> compiled_programs() {
    const std::unique_ptr<evictd_bpf, FreeSkeleton> skeleton(evictd_bpf__open());
    std::map<std::string, Compiled> compiled;
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, skeleton->obj) {
        compiled[bpf_program__name(program)] = {bpf_program__type(program), bpf_program__expected_attach_type(program),
                                                bpf_program__section_name(program)};
    }
    return compiled;
}

TEST(Candidates, EachNamesACompiledProgramThatAttachesAsInTheTable) {
    const std::map<Attach, std::pair<bpf_prog_type, bpf_attach_type>> kinds{
        {Attach::tracepoint, {BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP}},
        {Attach::fentry, {BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY}},
        {Attach::iterator, {BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER}},
        {Attach::cgroup, {BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE}},
        {Attach::timer, {BPF_PROG_TYPE_SYSCALL, {}}},  // run once by hand; its timer does the rest
    };
    const auto programs = compiled_programs();
    for (const auto& candidate : candidates()) {
        SCOPED_TRACE(candidate.program);
        ASSERT_TRUE(programs.contains(candidate.program));
        const auto& program = programs.at(candidate.program);
        EXPECT_EQ(program.type, kinds.at(candidate.attach).first);
        EXPECT_EQ(program.attach, kinds.at(candidate.attach).second);
        if (candidate.attach != Attach::timer) {
            EXPECT_EQ(program.section.substr(program.section.find('/') + 1), candidate.target);
        }
    }
}

TEST(Candidates, EveryCompiledProgramIsInTheTable) {
    std::set<std::string> named;
    for (const auto& candidate : candidates()) named.insert(candidate.program);
    for (const auto& [program, compiled] : compiled_programs()) EXPECT_TRUE(named.contains(program)) << program;
}

TEST(Candidates, FeedTheKnownHooksAndNoOthers) {
    std::set<std::string> fed;
    for (const auto& candidate : candidates()) fed.insert(candidate.hook.name);
    EXPECT_EQ(fed, (std::set<std::string>{"watermark", "usage", "oom", "oom_limit", "oom_score", "memcg",
                                          "cgroup_populated", "sockets", "sockets_shed", "sockets_short", "stall"}));
    EXPECT_EQ(hooks().size(), fed.size());
    for (const auto& hook : hooks()) EXPECT_TRUE(fed.contains(hook.name)) << hook.name;
}

TEST(Candidates, OnlyTheBestOfAHookLosesNothing) {
    std::set<std::string> seen;
    const Candidate* before = nullptr;
    for (const auto& candidate : candidates()) {
        const bool goes_with = before != nullptr && candidate.group != 0 && candidate.group == before->group &&
                               std::string(candidate.hook.name) == before->hook.name;
        before = &candidate;
        const bool best =
            seen.insert(candidate.hook.name).second || goes_with;  // the first of a group has the group's note
        EXPECT_EQ(*candidate.note == '\0', best) << candidate.program << ": " << candidate.note;
    }
}

}  // namespace
}  // namespace evictd::kernel

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The table of candidates against the compiled programs. Whether a kernel takes them is asked in tests/kernel.
#include "kernel/programs.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>

#include <bpf/libbpf.h>
#include <evictd/skeleton.h>
#include <gtest/gtest.h>

namespace evictd::kernel {
namespace {

struct FreeSkeleton {
    void operator()(evictd_bpf* skeleton) const { evictd_bpf__destroy(skeleton); }
};

// Program name to section name.
std::map<std::string, std::string> compiled_programs() {
    const std::unique_ptr<evictd_bpf, FreeSkeleton> skeleton(evictd_bpf__open());
    std::map<std::string, std::string> sections;
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, skeleton->obj) {
        sections[bpf_program__name(program)] = bpf_program__section_name(program);
    }
    return sections;
}

std::string section_of(const Candidate& candidate) {
    switch (candidate.attach) {
        case Attach::tracepoint:
            return std::string("tp_btf/") + candidate.target;
        case Attach::fentry:
            return std::string("fentry/") + candidate.target;
        case Attach::iterator:
            return std::string("iter/") + candidate.target;
        case Attach::cgroup:
            return std::string("cgroup/") + candidate.target;
        default:
            return "syscall";
    }
}

TEST(Candidates, EachNamesACompiledProgramThatAttachesWhereTheTableSays) {
    const auto programs = compiled_programs();
    for (const auto& candidate : candidates()) {
        ASSERT_TRUE(programs.contains(candidate.program)) << candidate.program;
        EXPECT_EQ(programs.at(candidate.program), section_of(candidate)) << candidate.program;
    }
}

TEST(Candidates, EveryCompiledProgramIsInTheTable) {
    std::set<std::string> named;
    for (const auto& candidate : candidates()) named.insert(candidate.program);
    for (const auto& [program, section] : compiled_programs()) EXPECT_TRUE(named.contains(program)) << program;
}

TEST(Candidates, FeedTheKnownHooksAndNoOthers) {
    std::set<std::string> hooks;
    for (const auto& candidate : candidates()) hooks.insert(candidate.hook);
    EXPECT_EQ(hooks, (std::set<std::string>{"watermark", "usage", "oom", "oom_limit", "oom_score", "memcg",
                                            "cgroup_populated", "sockets", "sockets_shed", "sockets_short", "stall"}));
}

TEST(Candidates, OnlyTheBestOfAHookLosesNothing) {
    std::set<std::string> seen;
    const Candidate* before = nullptr;
    for (const auto& candidate : candidates()) {
        const bool goes_with = before != nullptr && candidate.group != 0 && candidate.group == before->group &&
                               std::string(candidate.hook) == before->hook;
        before = &candidate;
        const bool best = seen.insert(candidate.hook).second || goes_with;  // the first of a group has the group's note
        EXPECT_EQ(*candidate.note == '\0', best) << candidate.program << ": " << candidate.note;
    }
}

}  // namespace
}  // namespace evictd::kernel

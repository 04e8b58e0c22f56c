// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How many instructions the kernel's verifier walks through for each program: verifier_budget.inc says what they were.
// A verifier gives up at a million, and every kernel counts differently, so growth is noticed long before.
#include <array>
#include <memory>
#include <optional>
#include <string>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <evictd/skeleton.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include "kernel/bpf_fixture.hpp"
#include "kernel/verify_together.hpp"

namespace evictd::kernel_test {
namespace {

struct Budget {
    const char* kernel;  // "6.1": the counts of one kernel line change little, those of two lines much
    const char* program;
    std::uint32_t instructions;
};

constexpr std::array budgets{
#include "kernel/verifier_budget.inc"
};

constexpr std::uint32_t growth_percent = 10;

std::string kernel_line() {
    utsname name{};
    uname(&name);
    const std::string release = name.release;
    return release.substr(0, release.find('.', release.find('.') + 1));
}

struct FreeSkeleton {
    void operator()(evictd_bpf* skeleton) const { evictd_bpf__destroy(skeleton); }
};

// What the verifier took for the program, loaded alone. None: this kernel does not take it.
std::optional<std::uint32_t> verified_instructions(const kernel::Candidate& candidate, bool has_rdonly_cast) {
    const std::string wanted = candidate.program;
    const std::unique_ptr<evictd_bpf, FreeSkeleton> skeleton(evictd_bpf__open());
    if (!skeleton) return std::nullopt;
    skeleton->rodata->has_rdonly_cast = has_rdonly_cast ? 1 : 0;
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, skeleton->obj) {
        bpf_program__set_autoload(program, wanted == bpf_program__name(program));
    }
    libbpf_set_print(nullptr);
    kernel::Choice alone;
    alone.chosen.push_back(&candidate);
    kernel::set_targets(*skeleton, alone);  // after other tests libbpf finds none
    if (evictd_bpf__load(skeleton.get()) != 0) return std::nullopt;
    bpf_prog_info info{};
    std::uint32_t size = sizeof(info);
    program = bpf_object__find_program_by_name(skeleton->obj, wanted.c_str());
    if (program == nullptr || bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) != 0) return std::nullopt;
    return info.verified_insns;
}

const Budget* budget_of(const std::string& kernel, const std::string& program) {
    for (const auto& budget : budgets) {
        if (kernel == budget.kernel && program == budget.program) return &budget;
    }
    return nullptr;
}

bool has_budget(const std::string& kernel) {
    for (const auto& budget : budgets) {
        if (kernel == budget.kernel) return true;
    }
    return false;
}

TEST(VerifierBudget, NoProgramGrowsByMoreThanATenth) {
    const auto kernel = kernel_line();
    const auto choice = kernel::choose_programs();
    ASSERT_TRUE(choice) << choice.error().text();
    std::string rows;
    int counted = 0;
    for (const auto& candidate : kernel::candidates()) {
        const auto found = verified_instructions(candidate, choice->has_rdonly_cast);
        if (!found) continue;  // what each hook must have is programs_test.cpp's
        ++counted;
        rows += "    Budget{\"" + kernel + "\", \"" + candidate.program + "\", " + std::to_string(*found) + "},\n";
        if (!has_budget(kernel)) continue;
        const auto* budget = budget_of(kernel, candidate.program);
        if (budget == nullptr) {
            ADD_FAILURE() << "no budget for " << candidate.program << " on " << kernel;
            continue;
        }
        EXPECT_LE(*found * 100, budget->instructions * (100 + growth_percent))
            << candidate.program << " grew on " << kernel
            << ": make it smaller, or say in the commit why it must be so";
    }
    std::cout << rows;
    EXPECT_GT(counted, 0);
    if (!has_budget(kernel)) GTEST_SKIP() << "no budget for kernel " << kernel << "; the rows for it stand above";
}

}  // namespace
}  // namespace evictd::kernel_test

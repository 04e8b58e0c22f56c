// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/load_memory.hpp"

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

// With a sanitizer malloc is not glibc's. gcc has a macro for each of them, clang a feature.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define EVICTD_OTHER_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define EVICTD_OTHER_MALLOC 1
#endif
#endif

namespace evictd::kernel {
namespace {

bool has_huge_pages() {
    std::string modes;
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
    return std::getline(file, modes) && modes.find("[never]") == std::string::npos;
}

// How often the kernel had no huge page to give away.
long fallbacks() {
    std::ifstream file("/proc/vmstat");
    std::string name;
    for (long value = 0; file >> name >> value;) {
        if (name == "thp_fault_fallback") return value;
    }
    return 0;
}

// Of this process, in MiB.
long resident() {
    std::ifstream file("/proc/self/statm");
    long all = 0;
    long pages = 0;
    file >> all >> pages;
    return pages * sysconf(_SC_PAGESIZE) >> 20;
}

long page_faults() {
    rusage usage{};
    (void)getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

// Huge pages are taken where so much is free.
bool has_free_memory() {
    struct sysinfo info {};
    return sysinfo(&info) == 0 && info.freeram * info.mem_unit >> 20 >= 256 && info.freeram >= info.totalram / 16;
}

// As the agent does before it loads BPF.
class LoadMemory : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
#ifdef EVICTD_OTHER_MALLOC
        GTEST_SKIP() << "the sanitizer has a malloc of its own";
#endif
        if (!has_huge_pages() || !has_free_memory()) {
            GTEST_SKIP() << "this machine has no huge pages, or too little free memory for them";
        }
        const long none_before = fallbacks();
        prepare_load_memory();
        if (fallbacks() != none_before) {
            GTEST_SKIP() << "this machine had no huge page free";
        }
    }
    void TearDown() override {
        release_load_memory();
        EXPECT_EQ(prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0), 0);
    }
};

TEST_F(LoadMemory, LaterAllocationsTakeFewPageFaults) {
    const long before = page_faults();
    const std::vector<char> types(5 << 20, 'x');
    const std::vector<char> copy(types.begin(), types.end());
    EXPECT_EQ(prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0), 1) << "huge pages stay refused for all else";
    EXPECT_LT(page_faults() - before, 800);  // of 2,560 pages; up to 512 lie before the first huge page
}

TEST_F(LoadMemory, IsGivenBackWhenBpfIsLoaded) {
    const long before = resident();
    release_load_memory();
    EXPECT_LE(resident(), before - 10) << "of 14 MiB";
}

}  // namespace
}  // namespace evictd::kernel

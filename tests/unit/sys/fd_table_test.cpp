// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/fd_table.hpp"

#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "sys/fd.hpp"

namespace evictd::sys {
namespace {

std::size_t places() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        if (std::size_t count = 0; word == "FDSize:" && status >> count) return count;
    }
    return 0;
}

class FdTable : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0); }
    void TearDown() override { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0); }

    rlimit before{};
};

// What can be had without a wait later is what the kernel says the table holds.
TEST_F(FdTable, HasPlacesAndKeepsThemWithoutADescriptor) {
    const Fd lowest_before(::dup(0));
    const std::size_t wanted = 2 * places();
    if (wanted > before.rlim_cur) GTEST_SKIP() << "at most " << before.rlim_cur << " descriptors";
    grow_fd_table(wanted);
    EXPECT_GE(places(), wanted);
    EXPECT_EQ(Fd(::dup(0)).get(), lowest_before.get() + 1);
}

TEST_F(FdTable, GrowsNoFurtherThanTheLimit) {
    const rlimit low{.rlim_cur = places(), .rlim_max = before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    grow_fd_table(2 * places());
    EXPECT_EQ(places(), low.rlim_cur);
}

TEST_F(FdTable, LogsThatItCouldNotGrow) {
    const auto wanted = 2 * places();
    testing::internal::CaptureStderr();
    const rlimit low{.rlim_cur = static_cast<rlim_t>(Fd(::dup(0)).get()), .rlim_max = before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    grow_fd_table(wanted);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(
        testing::internal::GetCapturedStderr(),
        "evictd: warning: could not enlarge the table of file descriptors: Too many open files; under a fork bomb "
        "a kill may wait for the kernel to do it\n");
}

TEST_F(FdTable, TheSoftLimitBecomesTheHardOne) {
    const rlimit low{.rlim_cur = 64, .rlim_max = before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    raise_fd_limit();
    rlimit now{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &now), 0);
    EXPECT_EQ(now.rlim_cur, before.rlim_max);
}

}  // namespace
}  // namespace evictd::sys

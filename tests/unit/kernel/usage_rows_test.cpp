// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The rows as the agent maps them. A file in memory stands for the BPF map: to mmap(2) they are alike.
#include "kernel/usage_rows.hpp"

#include <cstring>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "evictd/abi/event.h"
#include "sys/fd.hpp"

namespace evictd::kernel {
namespace {

struct Rows : testing::Test {
    void SetUp() override {
        map = sys::Fd(memfd_create("rows", MFD_CLOEXEC));
        ASSERT_EQ(ftruncate(map.get(), EVICTD_MAX_CGROUPS * sizeof(evictd_usage)), 0);
    }
    void write(std::size_t row, std::uint64_t cgroup) const {
        evictd_usage usage{};
        usage.cgroup_id = cgroup;
        const auto at = static_cast<off_t>(row * sizeof(usage));
        ASSERT_EQ(pwrite(map.get(), &usage, sizeof(usage), at), static_cast<ssize_t>(sizeof(usage)));
    }
    static std::uint64_t cgroup(std::span<const std::byte> rows, std::size_t row) {
        evictd_usage usage{};
        std::memcpy(&usage, rows.subspan(row * sizeof(usage)).data(), sizeof(usage));
        return usage.cgroup_id;
    }
    sys::Fd map;
};

TEST_F(Rows, AsManyAsThereIsRoomForAreSeenWhateverWasMappedFirst) {
    write(0, 7);
    write(1024, 8);
    write(EVICTD_MAX_CGROUPS - 1, 9);
    auto rows = UsageRows::open(map.get());
    ASSERT_TRUE(rows);
    for (const std::size_t count : {std::size_t{1}, std::size_t{1025}, std::size_t{EVICTD_MAX_CGROUPS}}) {
        const auto seen = rows->first(count);
        ASSERT_TRUE(seen) << count;
        ASSERT_EQ(seen->size(), count * sizeof(evictd_usage));
        EXPECT_EQ(cgroup(*seen, 0), 7U);
        EXPECT_EQ(cgroup(*seen, count - 1), count == 1 ? 7U : count == 1025 ? 8U : 9U);
    }
}

TEST_F(Rows, MoreThanThereIsRoomForAreAnErrorWithTheirNumber) {
    auto rows = UsageRows::open(map.get());
    ASSERT_TRUE(rows);
    const auto seen = rows->first(EVICTD_MAX_CGROUPS + 1);
    ASSERT_FALSE(seen);
    EXPECT_NE(seen.error().text().find("65537 cgroups"), std::string::npos) << seen.error().text();
}

}  // namespace
}  // namespace evictd::kernel

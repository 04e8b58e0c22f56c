// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/hierarchies.hpp"

namespace evictd::kernel {
namespace {

using ::testing::ElementsAre;

constexpr const char* hybrid =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:5 master:1 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
    "42 31 0:32 / /elsewhere/memory rw,relatime - cgroup cgroup rw,memory\n"
    "43 31 0:39 /kubepods/pod1 /elsewhere/pids rw,relatime - cgroup cgroup rw,pids\n";

TEST(HierarchyMounts, AreOfEachHierarchyOnceAndThatOfTheMemoryControllerLast) {
    EXPECT_THAT(hierarchy_mounts(hybrid, "/sys/fs/cgroup/memory"),
                ElementsAre("/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified",
                            "/sys/fs/cgroup/memory"))
        << "one that shows another part of its tree has other paths";
}

TEST(HierarchyMounts, AreThatOfTheMemoryControllerAloneWhereNothingIsKnownOfIt) {
    EXPECT_THAT(hierarchy_mounts("", "/sys/fs/cgroup"), ElementsAre("/sys/fs/cgroup"));
    EXPECT_THAT(hierarchy_mounts("garbage\n\n", "/sys/fs/cgroup"), ElementsAre("/sys/fs/cgroup"));
}

}  // namespace
}  // namespace evictd::kernel

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Both drivers' paths, and what is none.
#include "cri/cgroup_path.hpp"

#include <string>

#include <gtest/gtest.h>

namespace evictd::cri {
namespace {

TEST(CgroupPath, OfCgroupfsIsAPath) {
    EXPECT_EQ(cgroup_of("/kubepods/burstable/pod1/c1"), "/kubepods/burstable/pod1/c1");
    for (const auto* none : {"", "/", "a/b", "/a/", "//a", "/a/../b", "/a/./b", "/.."}) EXPECT_EQ(cgroup_of(none), "");
    EXPECT_EQ(cgroup_of(std::string("/a\0b", 4)), "");
}

TEST(CgroupPath, OfSystemdIsAScopeInItsSlice) {
    EXPECT_EQ(cgroup_of("kubepods-burstable-pod1_2.slice:cri-containerd:c1"),
              "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice/cri-containerd-c1.scope");
    EXPECT_EQ(cgroup_of("system.slice:crio:c1"), "/system.slice/crio-c1.scope");
    EXPECT_EQ(cgroup_of("system.slice::c1"), "/system.slice/c1.scope");
    EXPECT_EQ(cgroup_of("-.slice:crio:c1"), "/crio-c1.scope");
    for (const auto* none :
         {"a.slice:b", "a:b:c", ".slice:b:c", "a.slice:b:", "a--b.slice:c:d", "-a.slice:c:d", "a-.slice:c:d",
          "a/b.slice:c:d", "a.slice:../x:d", "a.slice:b:../d", "a.slice:b:c.slice"}) {
        EXPECT_EQ(cgroup_of(none), "") << none;
    }
}

}  // namespace
}  // namespace evictd::cri

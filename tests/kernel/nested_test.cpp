// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What runs in cgroups that a container made for itself: a pod whose init sorts its services into them is not empty.
#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "kernel/bpf_fixture.hpp"

namespace evictd::kernel_test {
namespace {

namespace fs = std::filesystem;

struct Nested : WithBpf {
    [[nodiscard]] std::int32_t processes(const std::string& name) const {
        for (const auto& row : usage()) {
            if (row.id == cgroups_.id(name)) return row.processes;
        }
        return -1;
    }
};

TEST_F(Nested, ProcessesWhereTheMemoryControllerDoesNotReachAreTheirContainers) {
    if (!hierarchies().v2) GTEST_SKIP() << "on cgroup v1 every cgroup of the memory hierarchy has it";
    make_pods_root(std::nullopt);
    cgroups_.make("kubepods/podnested/container");
    cgroups_.make("kubepods/podquiet/container");
    const std::string services = "kubepods/podnested/container/services";
    const fs::path directory = hierarchies().memory + cgroups_.path(services);
    fs::create_directories(directory / "one");
    ASSERT_FALSE(fs::exists(directory / "memory.current"));
    {
        const PodProcess first(cgroups_, services);
        const PodProcess second(cgroups_, services + "/one");
        EXPECT_EQ(processes("kubepods/podnested/container"), 2);
        EXPECT_EQ(processes("kubepods/podquiet/container"), 0);
    }
    // They were waited for, and are taken off their cgroup's list a moment later.
    EXPECT_TRUE(eventually([&] { return processes("kubepods/podnested/container") == 0; }));
    // What the fixture did not make, it does not remove.
    EXPECT_TRUE(
        eventually([&] { return ::rmdir((directory / "one").c_str()) == 0 && ::rmdir(directory.c_str()) == 0; }));
}

}  // namespace
}  // namespace evictd::kernel_test

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The agent finds its own cgroup where neither its cgroup namespace nor the host's can be asked, as in the DaemonSet's
// pod.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include "app/rights.hpp"
#include "kernel/cgroup_fixture.hpp"
#include "kernel/pod_cgroup.hpp"
#include "kernel/pod_process.hpp"
#include "kernel/process_lists.hpp"

namespace evictd::kernel_test {
namespace {

TEST(OwnCgroup, IsSearchedForInAContainerWithoutSysAdmin) {
    TestCgroups cgroups;
    cgroups.make("kubepods/podself/container");
    cgroups.make("kubepods/podother/container");
    PodProcess agent(cgroups, "kubepods/podself/container", [&](const Line& line) {
        auto ours = kernel::CgroupHandle::open(hierarchies(), cgroups.path("kubepods/podself"));
        auto theirs = kernel::CgroupHandle::open(hierarchies(), cgroups.path("kubepods/podother"));
        const bool made = ours && theirs && ::unshare(CLONE_NEWCGROUP) == 0 && app::keep_needed_rights();
        line.say(made && !kernel::own_cgroup_of_host(hierarchies().v2) ? 'y' : 'n');
        kernel::find_own_cgroup(hierarchies());
        // No descriptor is left to walk any cgroup with.
        const rlimit none{.rlim_cur = 0, .rlim_max = 0};
        line.say(::setrlimit(RLIMIT_NOFILE, &none) == 0 ? 'y' : 'n');
        for (const auto* pod : {&*ours, &*theirs}) {
            const auto holds = (*pod)->holds_us();
            line.say(holds ? *holds ? 'y' : 'n' : '?');
        }
        line.hear();
    });
    EXPECT_EQ(agent.hear(), 'y');
    EXPECT_EQ(agent.hear(), 'y');
    EXPECT_EQ(agent.hear(), 'y');
    EXPECT_EQ(agent.hear(), 'n');
}

}  // namespace
}  // namespace evictd::kernel_test

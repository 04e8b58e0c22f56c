// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What doctor says of the directories that evictd.disks needs.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "doctor/doctor.hpp"
#include "fakes/temp_dir.hpp"
#include "kernel/hierarchies.hpp"

namespace evictd::doctor {
namespace {

using codec::FindingState;
using testing::HasSubstr;
using testing::IsEmpty;

struct DiskRows : testing::Test {
    DiskRows() {
        config.agent.disks = true;
        config.agent.cluster.kubelet_root = dir / "kubelet";
        config.pod_logs_dir = dir / "logs";
        config.container_runtime_endpoint = "unix://" + (dir / "none.sock");
        std::filesystem::create_directories(dir / "kubelet/pods/u1/volumes/kubernetes.io~empty-dir/data");
        std::filesystem::create_directories(dir / "logs/default_web_u1/main");
    }
    std::vector<codec::Finding> examine() const {
        std::vector<codec::Finding> checks;
        examine_disks(config, checks);
        return checks;
    }
    [[nodiscard]] codec::Finding row(const std::string& check) const {
        for (auto& finding : examine()) {
            if (finding.check == check) return finding;
        }
        return {};
    }
    const fakes::TempDir dir;
    Config config;
};

TEST_F(DiskRows, NoneWhereDisksAreOff) {
    config.agent.disks = false;
    EXPECT_THAT(examine(), IsEmpty());
}

TEST_F(DiskRows, WhatIsThereIsShown) {
    EXPECT_EQ(row("pods on disk").state, FindingState::ok);
    EXPECT_THAT(row("pods on disk").chosen, HasSubstr("1 pod in"));
    EXPECT_THAT(row("filesystems").chosen, HasSubstr("nodefs "));
}

TEST_F(DiskRows, WithoutARuntimeImagefsIsNotKnown) {
    EXPECT_EQ(row("filesystems").state, ::geteuid() == 0 ? FindingState::fallback : FindingState::unknown);
    EXPECT_THAT(row("filesystems").detail, HasSubstr("imagefs is not known"));
}

// Only root may open the runtime's socket. In a child: this program stays what it is.
TEST_F(DiskRows, WithoutRootImagefsIsWhatRootCouldSee) {
    const auto look_as_nobody = [&] {
        if (::geteuid() == 0 && ::setuid(65534) != 0) std::_Exit(2);
        const auto seen = row("filesystems");
        std::_Exit(seen.state == FindingState::unknown && seen.remedy == "run doctor as root" ? 0 : 1);
    };
    EXPECT_EXIT(look_as_nobody(), testing::ExitedWithCode(0), "");
}

TEST_F(DiskRows, ARootDirectoryThatIsNotThereIsSaid) {
    std::filesystem::remove_all(dir / "kubelet");
    EXPECT_THAT(row("filesystems").detail, HasSubstr("kubelet is not there: / is measured as nodefs"));
    EXPECT_THAT(row("filesystems").remedy, HasSubstr("evictd.kubelet.rootDirectory"));
    EXPECT_NE(row("pods on disk").state, FindingState::ok);
    EXPECT_THAT(row("pods on disk").detail, HasSubstr("what pods keep there is not known"));
}

TEST_F(DiskRows, LogsThatAreNotThereStay) {
    std::filesystem::remove_all(dir / "logs");
    EXPECT_NE(row("logs").state, FindingState::ok);
    EXPECT_THAT(row("logs").detail, HasSubstr("logs: No such file or directory"));
}

struct OrphanRow : DiskRows {
    OrphanRow() {
        config.eviction.garbage.orphans = Orphans::remove;
        config.agent.cluster.kubeconfig = dir / "kubeconfig";
        config.agent.socket_path = dir / "none.sock";
    }
};

TEST_F(OrphanRow, IsNotThereWhereTheyAreOff) {
    config.eviction.garbage.orphans = Orphans::off;
    EXPECT_EQ(row("orphans").check, "");
}

TEST_F(OrphanRow, SaysThatNothingGoesWithoutAnApiServer) {
    config.agent.cluster.kubeconfig.clear();
    EXPECT_EQ(row("orphans").state, FindingState::missing);
    EXPECT_THAT(row("orphans").detail, HasSubstr("without an API server"));
    EXPECT_THAT(row("orphans").remedy, HasSubstr("evictd.kubeconfig"));
}

TEST_F(OrphanRow, SaysWhenTheyGoAndThatOnlyAnAgentKnowsWhat) {
    EXPECT_THAT(
        row("orphans").chosen,
        HasSubstr("removed after 10m0s; which directories are of unknown pods cannot be told: no agent answers"));
    config.eviction.garbage.orphans = Orphans::report;
    EXPECT_THAT(row("orphans").chosen, HasSubstr("reported after 10m"));
    config.eviction.garbage.orphans = Orphans::remove;
    config.agent.dry_run = true;
    EXPECT_THAT(row("orphans").chosen, HasSubstr("reported after 10m"));
}

// The kubelet leaves a token's directory (projected), which disks does not count, or an empty one.
TEST_F(OrphanRow, CountsDirectoriesWhateverIsInThem) {
    std::filesystem::create_directories(dir / "kubelet/pods/u2/volumes/kubernetes.io~projected/kube-api-access");
    std::filesystem::create_directories(dir / "kubelet/pods/u3");
    std::filesystem::create_directories(dir / "logs/default_gone_u4");
    std::filesystem::create_symlink(dir / "logs", dir / "kubelet/pods/u5");
    EXPECT_THAT(pods_with_directories(config), testing::ElementsAre("u1", "u2", "u3", "u4"));
    std::filesystem::remove_all(dir / "kubelet");
    EXPECT_THAT(pods_with_directories(config), testing::ElementsAre("u1", "u4"));
}

TEST_F(OrphanRow, WhatCannotBeWrittenToIsSaid) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    if (row("orphans").state == FindingState::missing) GTEST_SKIP() << row("orphans").detail;
    EXPECT_EQ(row("orphans").state, FindingState::ok) << row("orphans").detail;
    std::filesystem::remove_all(dir / "logs");
    EXPECT_EQ(row("orphans").state, FindingState::fallback);
    EXPECT_EQ(row("orphans").detail, (dir / "logs") + ": No such file or directory: log directories stay");
    std::filesystem::remove_all(dir / "kubelet/pods");
    EXPECT_THAT(row("orphans").detail, HasSubstr("volume directories stay, and log directories with them; "));
    EXPECT_THAT(row("orphans").remedy, HasSubstr("rootDirectory; in a container, mount it writable"));
    config.eviction.garbage.orphans = Orphans::report;
    EXPECT_EQ(row("orphans").state, FindingState::ok) << "nothing is written to";
}

// In mounts of its own thread.
TEST_F(OrphanRow, AReadOnlyHierarchyOfCgroupsIsSaid) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    if (row("orphans").state == FindingState::missing) GTEST_SKIP() << row("orphans").detail;
    const auto hierarchies = kernel::find_hierarchies();
    ASSERT_TRUE(hierarchies);
    const auto place = kernel::hierarchy_mounts(*hierarchies).value().front();
    std::thread([&] {
        if (::unshare(CLONE_NEWNS) != 0) GTEST_SKIP() << "not allowed here";
        ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
        ASSERT_EQ(::mount(place.c_str(), place.c_str(), nullptr, MS_BIND, nullptr), 0);
        ASSERT_EQ(::mount(nullptr, place.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr), 0);
        EXPECT_EQ(row("orphans").detail, place + ": Read-only file system: cgroups stay");
    }).join();
}

}  // namespace
}  // namespace evictd::doctor

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What doctor says of the directories that evictd.disks needs.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "doctor/doctor.hpp"
#include "fakes/temp_dir.hpp"

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

}  // namespace
}  // namespace evictd::doctor

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "doctor/doctor.hpp"

#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>

#include "fakes/temp_dir.hpp"

namespace evictd::doctor {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

struct Manifests : testing::Test {
    Manifests() {
        config.agent.pod_manifest_path = dir / "closed/pods";
        config.static_pod_path = dir / "static";
        std::filesystem::permissions(dir.path(), std::filesystem::perms::all);
    }
    // As a user who is not root.
    codec::Finding find() {
        codec::Finding finding;
        std::thread([&] {
            (void)::setfsuid(65534);  // of this thread alone
            finding = find_manifests(config, facts);
        }).join();
        return finding;
    }
    fakes::TempDir dir;
    Config config;
    HostFacts facts;
};

TEST_F(Manifests, AnUnreachableDirectoryIsNotReportedAsAbsent) {
    std::filesystem::create_directory(dir / "closed");
    std::filesystem::permissions(dir / "closed", std::filesystem::perms::none);
    const auto finding = find();
    std::filesystem::permissions(dir / "closed", std::filesystem::perms::owner_all);
    EXPECT_EQ(finding.state, codec::FindingState::missing);
    EXPECT_THAT(finding.detail, HasSubstr("Permission denied"));
    EXPECT_THAT(finding.detail, Not(AnyOf(HasSubstr("not a directory"), HasSubstr("does not exist"))));
    EXPECT_EQ(finding.remedy, "let evictd's user read it");
    EXPECT_FALSE(facts.has_pod_source);
}

TEST_F(Manifests, AnAbsentOneAndAFileAreNoDirectories) {
    EXPECT_THAT(find().detail, HasSubstr(" does not exist: no pods are known"));
    dir.write("closed/pods", "text");
    std::filesystem::permissions(dir / "closed", std::filesystem::perms::all);
    EXPECT_THAT(find().detail, HasSubstr(" is not a directory: no pods are known"));
    std::filesystem::create_directory(dir / "static");
    EXPECT_EQ(find().state, codec::FindingState::missing);
}

TEST(PodsText, CountsInEnglish) {
    EXPECT_EQ(pods_text(0), "0 pods");
    EXPECT_EQ(pods_text(1), "1 pod");
    EXPECT_EQ(pods_text(2), "2 pods");
}

}  // namespace
}  // namespace evictd::doctor

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// That the log has one line of an orphan that cannot go, however often it is tried.
#include "app/removal_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evictd::app {
namespace {

using testing::HasSubstr;
using testing::Optional;

struct RemovalLogTest : testing::Test {
    [[nodiscard]] std::optional<std::string> say(GarbageStatus status, const std::string& error,
                                                 const std::string& id = "uid-1") {
        Garbage one{GarbageKind::volume_directory, id, "shop/web", {id}, std::nullopt, {}};
        one.orphan_of = orphan_of;
        return log.line(one, {one.kind, one.id, status, error});
    }
    std::string orphan_of = "shop/web";
    RemovalLog log;
};

TEST_F(RemovalLogTest, WhyAnOrphanCannotGoIsSaidOnceAndAgainOnceItChanges) {
    const std::string read_only = "Read-only file system";
    EXPECT_THAT(say(GarbageStatus::failed, read_only),
                Optional(HasSubstr("failed volume directory shop/web: Read-only")));
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(say(GarbageStatus::failed, read_only));
    EXPECT_TRUE(say(GarbageStatus::failed, read_only, "uid-2")) << "another pod's";
    EXPECT_TRUE(say(GarbageStatus::failed, "Input/output error"));
    EXPECT_TRUE(say(GarbageStatus::failed, read_only));
    EXPECT_THAT(say(GarbageStatus::removed, {}), Optional(HasSubstr("removed volume directory shop/web")));
    EXPECT_TRUE(say(GarbageStatus::failed, read_only)) << "it has come back";
}

TEST_F(RemovalLogTest, OfOtherGarbageEachRemovalIsSaid) {
    orphan_of.clear();
    EXPECT_TRUE(say(GarbageStatus::failed, "no"));
    EXPECT_TRUE(say(GarbageStatus::failed, "no"));
}

TEST_F(RemovalLogTest, ItKeepsABoundedNumber) {
    for (std::size_t i = 0; i <= RemovalLog::most_kept; ++i) {
        EXPECT_TRUE(say(GarbageStatus::failed, "no", std::to_string(i)));
    }
    EXPECT_TRUE(say(GarbageStatus::failed, "no", "0")) << "forgotten";
}

}  // namespace
}  // namespace evictd::app

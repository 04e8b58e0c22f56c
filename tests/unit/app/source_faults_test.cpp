// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which faults of the sources are reported, and for how long one is remembered.
#include "app/source_faults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evictd::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Faults : testing::Test {
    // What is reported of a set in which these files cannot be read.
    std::vector<std::string> unread(const std::vector<std::string>& files, int second) {
        port::PodSet set;
        for (const auto& file : files) {
            set.unread.push_back({ErrorKind::not_permitted, file, "Permission denied", ""});
        }
        std::vector<std::string> reported;
        for (const auto& error : faults.note(0, set, MonotonicTime{std::chrono::seconds(second)}).unread) {
            reported.push_back(error.what);
        }
        return reported;
    }
    SourceFaults faults;
};

TEST_F(Faults, AnotherFileThatFailsAtEachTryIsReportedOnce) {
    EXPECT_THAT(unread({"a"}, 0), ElementsAre("a"));
    EXPECT_THAT(unread({"b"}, 1), ElementsAre("b"));
    for (int second = 2; second < 200; second++) {
        EXPECT_THAT(unread({second % 2 == 0 ? "a" : "b"}, second), IsEmpty());
    }
}

TEST_F(Faults, AFaultThatComesBackIsReportedAgainAlsoWhileAnotherLasts) {
    EXPECT_THAT(unread({"a", "b"}, 0), ElementsAre("a", "b"));
    EXPECT_THAT(unread({"a"}, 10), IsEmpty());
    EXPECT_THAT(unread({"a", "b"}, 69), IsEmpty());
    EXPECT_THAT(unread({"a"}, 100), IsEmpty());
    EXPECT_THAT(unread({"a", "b"}, 160), ElementsAre("b"));
}

// A source delivers a set only when it differs.
TEST_F(Faults, OneThatLastsIsNotReportedAgainHoweverLongNoSetCame) {
    EXPECT_THAT(unread({"a"}, 0), ElementsAre("a"));
    EXPECT_THAT(unread({"a", "b"}, 3600), ElementsAre("b"));
    EXPECT_THAT(unread({"b"}, 7200), IsEmpty());
}

TEST_F(Faults, WhatIsRememberedIsBounded) {
    for (int i = 0; i < 2'000; i++) {
        EXPECT_THAT(unread({"lasting", std::to_string(i)}, 0).size(), i == 0 ? 2U : 1U);
    }
    EXPECT_LE(faults.remembered_unread(0), 1100U);
    EXPECT_THAT(unread({"lasting"}, 0), IsEmpty());
}

TEST_F(Faults, AllAreForgottenWhenAllCanBeRead) {
    EXPECT_THAT(unread({"a"}, 0), ElementsAre("a"));
    EXPECT_THAT(unread({}, 1), IsEmpty());
    EXPECT_THAT(unread({"a"}, 2), ElementsAre("a"));
}

}  // namespace
}  // namespace evictd::app

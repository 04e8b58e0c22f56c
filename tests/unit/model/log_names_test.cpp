// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Names as the kubelet makes them, and names that only look like those.
#include "evictd/model/log_names.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace evictd {
namespace {

TEST(LogNames, TheUidFollowsTheLastUnderscore) {
    const std::pair<const char*, const char*> cases[] = {
        {"default_web_uid-1", "uid-1"},
        {"a_b_c_uid", "uid"},
        {"uid-alone", "uid-alone"},
        {"default_web_", ""},
        {"", ""},
    };
    for (const auto& [name, uid] : cases) EXPECT_EQ(pod_of_log_directory(name), uid) << name;
}

TEST(LogNames, ARotatedLogNamesTheLiveOne) {
    EXPECT_EQ(live_log_of("0.log.20261125-150405"), "0.log");
    EXPECT_EQ(live_log_of("12.log.20261125-150405.gz"), "12.log");
    EXPECT_EQ(live_log_of("a.log.b.log.20261125-150405"), "a.log.b.log");
    for (const char* none :
         {"", "0.log", "0.log.", "0.log.gz", ".log.20261125-150405", "0.log.20261125-15040", "0.log.20261125-1504050",
          "0.log.20261125x150405", "0.log.2026112a-150405", "0.log.20261125-150405.tmp", "0.log.20261125-150405.gz.gz",
          "0.log.20261125-150405/0.log", "a/0.log.20261125-150405", "../0.log.20261125-150405"}) {
        EXPECT_FALSE(is_rotated_log(none)) << none;
    }
}

TEST(LogNames, TheContainerOfALinkIsBehindTheLastDash) {
    EXPECT_EQ(container_of_log_link("web_default_app-abc123.log"), "abc123");
    EXPECT_EQ(container_of_log_link("a-b_c-d_e-f-1.log"), "1");
    for (const char* none : {"", "web.log", "web-abc", "-.log", "web-abc.log.gz"}) {
        EXPECT_EQ(container_of_log_link(none), "") << none;
    }
}

TEST(LogNames, APlainNameIsOneStepDown) {
    for (const std::string plain : {"a", "...", ".a", "a b", "\xff"}) EXPECT_TRUE(is_plain_name(plain)) << plain;
    for (const std::string& other : {std::string(), std::string("."), std::string(".."), std::string("a/b"),
                                     std::string("/"), std::string("a\0b", 3)}) {
        EXPECT_FALSE(is_plain_name(other)) << other;
    }
}

TEST(LogNames, APathHasADirectoryAndAName) {
    EXPECT_EQ(parts_of_path("/p/a/0.log").directory, "/p/a");
    EXPECT_EQ(parts_of_path("/p/a/0.log").name, "0.log");
    EXPECT_EQ(parts_of_path("0.log").directory, "");
    EXPECT_EQ(parts_of_path("0.log").name, "0.log");
    EXPECT_EQ(parts_of_path("/p/").name, "");
}

}  // namespace
}  // namespace evictd

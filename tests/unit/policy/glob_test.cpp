// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Patterns for names of images.
#include "glob.hpp"

#include <string>

#include <gtest/gtest.h>

namespace evictd::policy {
namespace {

TEST(Glob, MatchesWholeNames) {
    EXPECT_TRUE(matches("docker.io/library/nginx:1.27", "docker.io/library/nginx:1.27"));
    EXPECT_FALSE(matches("docker.io/library/nginx", "docker.io/library/nginx:1.27"));
    EXPECT_FALSE(matches("library/nginx:1.27", "docker.io/library/nginx:1.27"));
    EXPECT_FALSE(matches("", "a"));
    EXPECT_TRUE(matches("", ""));
}

TEST(Glob, AStarIsAnyCharactersASlashToo) {
    EXPECT_TRUE(matches("registry.k8s.io/*", "registry.k8s.io/kube-proxy/arm64:v1"));
    EXPECT_TRUE(matches("*/nginx:*", "docker.io/library/nginx:1.27"));
    EXPECT_TRUE(matches("*", ""));
    EXPECT_TRUE(matches("a**b*", "ab"));
    EXPECT_TRUE(matches("*ab", "aab"));
    EXPECT_FALSE(matches("a*b", "abc"));
    EXPECT_FALSE(matches("*x*", "abc"));
}

TEST(Glob, AQuestionMarkIsOneCharacter) {
    EXPECT_TRUE(matches("app:v?", "app:v1"));
    EXPECT_FALSE(matches("app:v?", "app:v"));
    EXPECT_FALSE(matches("app:v?", "app:v12"));
    EXPECT_TRUE(matches("*?", "a"));
    EXPECT_FALSE(matches("*?", ""));
}

TEST(Glob, NoOtherCharacterIsSpecial) {
    EXPECT_TRUE(matches("a[b]c", "a[b]c"));
    EXPECT_FALSE(matches("a[b]c", "abc"));
    EXPECT_FALSE(matches("a.c", "abc"));
}

// With a matcher that goes back to every star this does not end.
TEST(Glob, ManyStarsTakeNoLonger) {
    std::string pattern;
    for (int i = 0; i < 200; ++i) pattern += "*a";
    EXPECT_FALSE(matches(pattern + "b", std::string(4000, 'a')));
}

}  // namespace
}  // namespace evictd::policy

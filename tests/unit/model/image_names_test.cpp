// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One image has many names, and two images may look alike.
#include "evictd/model/image_names.hpp"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evictd {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string id(64, 'a');
const std::string digest = "sha256:" + std::string(64, 'd');

RuntimeImage image(const std::string& tag) {
    RuntimeImage one;
    one.id = "sha256:" + id;
    one.tags = {tag};
    one.digests = {"docker.io/library/x@" + digest};
    return one;
}

TEST(ImageNames, EverySpellingOfATagIsTheImage) {
    const auto official = image("docker.io/library/x:latest");
    for (const auto* name : {"x", "x:latest", "library/x", "docker.io/x", "docker.io/library/x",
                             "index.docker.io/library/x", "docker.io/library/x:latest"}) {
        EXPECT_TRUE(may_be_named(official, name)) << name;
    }
    EXPECT_TRUE(may_be_named(image("x"), "docker.io/library/x:latest")) << "the list may have the short one";
    EXPECT_TRUE(may_be_named(image("host:5000/pause:3.9"), "host:5000/pause:3.9"));
    EXPECT_TRUE(may_be_named(image("host:5000/pause"), "host:5000/pause:latest"));
}

TEST(ImageNames, AnIdAndADigestAreTheImage) {
    const auto one = image("x:1");
    for (const auto& name :
         {id, "sha256:" + id, "x@" + digest, "mirror.example/x@" + digest, "x:2@" + digest, digest}) {
        EXPECT_TRUE(may_be_named(one, name)) << name;
    }
    EXPECT_TRUE(may_be_named(one, "x:1@sha256:" + std::string(64, 'e'))) << "its tag is";
}

TEST(ImageNames, AnotherImageIsNot) {
    const auto one = image("docker.io/library/x:1");
    for (const auto& name :
         {std::string{}, std::string("x"), std::string("x:2"), std::string("y/x:1"), std::string("quay.io/library/x:1"),
          std::string("library"), std::string("@"), "x@sha256:" + std::string(64, 'e')}) {
        EXPECT_FALSE(may_be_named(one, name)) << name;
    }
}

TEST(ImageNames, AreCompletedAsContainerdDoes) {
    const std::pair<std::string, std::string> cases[] = {
        {"pause", "docker.io/library/pause:latest"},
        {"pause:3.9", "docker.io/library/pause:3.9"},
        {"library/pause:3.9", "docker.io/library/pause:3.9"},
        {"docker.io/pause:3.9", "docker.io/library/pause:3.9"},
        {"index.docker.io/user/app", "docker.io/user/app:latest"},
        {"user/app", "docker.io/user/app:latest"},
        {"localhost/app", "localhost/app:latest"},
        {"localhost:5000/app", "localhost:5000/app:latest"},
        {"registry.example/app", "registry.example/app:latest"},
        {"registry.example:5000/a/b:1", "registry.example:5000/a/b:1"},
        {"REGISTRY/app:1", "REGISTRY/app:1"},
        {"pause:3.9@sha256:" + id, "docker.io/library/pause@sha256:" + id},
        {"pause@sha256:" + id, "docker.io/library/pause@sha256:" + id},
    };
    for (const auto& [name, whole] : cases) {
        EXPECT_THAT(spellings_of_image(name), Contains(whole)) << name;
        EXPECT_EQ(spellings_of_image(name).front(), name) << "as it is, too";
    }
}

TEST(ImageNames, AnIdIsItsDigits) {
    EXPECT_THAT(spellings_of_image(id), ElementsAre(id));
    EXPECT_THAT(spellings_of_image("sha256:" + id), ElementsAre(id));
    EXPECT_THAT(spellings_of_image("app@sha256:" + id), Contains(id));
    for (const std::string& none :
         {std::string(), std::string("sha256:"), id.substr(1), id + "a", std::string(64, 'g'), std::string(64, 'A')}) {
        EXPECT_EQ(digits_of_content(none), "") << none;
    }
    EXPECT_THAT(spellings_of_image(""), IsEmpty());
}

}  // namespace
}  // namespace evictd

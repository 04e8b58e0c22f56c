// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a containerd calls its pods and containers, also after it was killed, and of a pod whose sandbox was made anew.
#include <string>

#include <gtest/gtest.h>

#include "observe/runtime_names.hpp"
#include "runtime_fixture.hpp"

namespace evictd::cri_test {
namespace {

struct NamesTest : RuntimeFixture {
    static std::string last_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }
    RuntimeNamesPtr names() {
        auto read = observe::read_names(*runtime);
        EXPECT_TRUE(read) << read.error().text();
        return read ? *read : nullptr;
    }
    // "default/web/app": as its cgroup is named, so is the container.
    std::string name_of(const std::string& uid, const std::string& container) {
        const auto all = names();
        const auto* pod = named_pod(all.get(), {uid});
        if (pod == nullptr) return "";
        return pod->full_name() + "/" + named_container(*pod, last_of(details_of(container).cgroup));
    }
};

TEST_F(NamesTest, PodsAndContainersByTheCgroupThatTheyAreIn) {
    const auto first = run("first");
    const auto second = run("second");
    EXPECT_EQ(name_of("uid-first", first), "default/first/first");
    EXPECT_EQ(name_of("uid-second", second), "default/second/second");
    EXPECT_EQ(name_of("uid-first", second), "default/first/") << "another pod's container";
}

TEST_F(NamesTest, OfAnOldAndANewAttemptThereIsOnePodWithTheContainersOfBoth) {
    const auto old = make_pod("again");
    const auto before = make_container(old, "before", {"true"});
    ASSERT_TRUE(runtime->stop_sandbox(old));
    const auto after = make_container(make_pod("again", 1), "after", {"true"});
    EXPECT_EQ(name_of("uid-again", before), "default/again/before");
    EXPECT_EQ(name_of("uid-again", after), "default/again/after");
}

TEST_F(NamesTest, AreTheSameAfterARestart) {
    const auto container = run("stays");
    kill_containerd();
    const auto read = observe::read_names(*runtime);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, ErrorKind::unreachable) << read.error().text();
    start_containerd();
    EXPECT_EQ(name_of("uid-stays", container), "default/stays/stays");
}

}  // namespace
}  // namespace evictd::cri_test

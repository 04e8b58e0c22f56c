// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/runtime_names.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_container_runtime.hpp"

namespace evictd::observe {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

RuntimeSandbox sandbox(const std::string& id, const std::string& uid, const std::string& name = "web") {
    RuntimeSandbox one;
    one.id = id;
    one.pod = uid;
    one.ready = true;
    one.name = name;
    one.namespace_name = "default";
    return one;
}

RuntimeContainer listed_container(const std::string& id, const std::string& of, const std::string& name = "app") {
    RuntimeContainer one;
    one.id = id;
    one.sandbox = of;
    one.name = name;
    return one;
}

std::string name_of(const RuntimeNames& names, const std::string& uid) {
    const auto* pod = named_pod(&names, {uid});
    return pod != nullptr ? pod->full_name() : "";
}
std::string container_of(const RuntimeNames& names, const std::string& uid, const std::string& cgroup) {
    const auto* pod = named_pod(&names, {uid});
    return pod != nullptr ? named_container(*pod, cgroup) : "";
}

TEST(RuntimeNames, PodsByUidAndContainersByTheirCgroup) {
    const auto names =
        runtime_names({sandbox("s2", "u2", "db"), sandbox("s1", "u1")},
                      {listed_container("0123456789ab", "s1"), listed_container("ba9876543210", "s2", "main")});
    EXPECT_EQ(name_of(names, "u1"), "default/web");
    EXPECT_EQ(name_of(names, "u2"), "default/db");
    EXPECT_EQ(name_of(names, "u3"), "");
    EXPECT_EQ(container_of(names, "u1", "cri-containerd-0123456789ab.scope"), "app");
    EXPECT_EQ(container_of(names, "u1", "ba9876543210"), "") << "another pod's";
    EXPECT_EQ(container_of(names, "u2", "ba9876543210"), "main");
    EXPECT_EQ(container_of(names, "u1", "s1"), "") << "the sandbox has no name";
    EXPECT_EQ(named_pod(nullptr, {"u1"}), nullptr);
}

TEST(RuntimeNames, TheSandboxThatIsReadyNamesThePodAndContainersOfAllOfThemAreIts) {
    auto old = sandbox("s-old", "u1", "before");
    old.ready = false;
    old.attempt = 7;
    auto dead = old;
    dead.id = "s-dead";
    dead.attempt = 8;
    dead.name = "dead";
    auto live = sandbox("s-live", "u1", "now");
    const std::vector containers{listed_container("aaaaaaaaaaaa", "s-old", "first"),
                                 listed_container("bbbbbbbbbbbb", "s-live")};
    const auto names = runtime_names({old, live, dead}, containers);
    ASSERT_THAT(names.pods, SizeIs(1));
    EXPECT_EQ(name_of(names, "u1"), "default/now");
    EXPECT_EQ(container_of(names, "u1", "aaaaaaaaaaaa"), "first");
    EXPECT_EQ(container_of(names, "u1", "bbbbbbbbbbbb"), "app");
    EXPECT_EQ(name_of(runtime_names({old, dead}, {}), "u1"), "default/dead") << "the newest attempt";
}

TEST(RuntimeNames, AContainerIsOfItsSandboxWhateverItsLabelSays) {
    auto lies = listed_container("aaaaaaaaaaaa", "s1");
    lies.pod = "u2";
    auto late = listed_container("bbbbbbbbbbbb", "not-listed");
    late.pod = "u2";
    const auto names = runtime_names({sandbox("s1", "u1"), sandbox("s2", "u2")}, {lies, late});
    EXPECT_EQ(container_of(names, "u1", "aaaaaaaaaaaa"), "app");
    EXPECT_EQ(container_of(names, "u2", "aaaaaaaaaaaa"), "");
    EXPECT_EQ(container_of(names, "u2", "bbbbbbbbbbbb"), "app");
}

TEST(RuntimeNames, WhatIsNoNameIsLeftOut) {
    for (const std::string& bad : {std::string(), std::string("a/b"), std::string(".."), std::string("a b"),
                                   std::string("\x1b[2J"), std::string("a\n"), std::string(254, 'a')}) {
        EXPECT_THAT(runtime_names({sandbox("s1", "u1", bad)}, {}).pods, IsEmpty()) << bad;
        EXPECT_THAT(runtime_names({sandbox("s1", bad)}, {}).pods, IsEmpty()) << bad;
        auto elsewhere = sandbox("s1", "u1");
        elsewhere.namespace_name = bad;
        EXPECT_THAT(runtime_names({elsewhere}, {}).pods, IsEmpty()) << bad;
        const auto names = runtime_names({sandbox("s1", "u1")}, {listed_container("aaaaaaaaaaaa", "s1", bad)});
        EXPECT_THAT(names.pods.at(0).containers, IsEmpty()) << bad;
    }
    const auto names = runtime_names({sandbox("s1", "u1")}, {listed_container("short", "s1")});
    EXPECT_EQ(container_of(names, "u1", "a-short-name"), "") << "no runtime's ID: it may stand there by chance";
}

TEST(RuntimeNames, NoMoreThanTheNewestAreKept) {
    std::vector<RuntimeSandbox> sandboxes;
    for (std::size_t i = 0; i < most_named_pods + 10; i++) {
        const auto number = std::to_string(i);
        sandboxes.push_back(sandbox("s" + number, "u" + number, "p" + number));
        sandboxes.back().created = WallTime{i * 1s};
    }
    std::vector<RuntimeContainer> containers;
    for (std::size_t i = 0; i < most_named_containers + 10; i++) {
        containers.push_back(listed_container("aaaaaaaaaaaa" + std::to_string(i), "s100"));
        containers.back().created = WallTime{i * 1s};
    }
    const auto names = runtime_names(sandboxes, containers);
    EXPECT_THAT(names.pods, SizeIs(most_named_pods));
    EXPECT_EQ(name_of(names, "u9"), "") << "the oldest go";
    EXPECT_EQ(name_of(names, "u10"), "default/p10");
    EXPECT_THAT(named_pod(&names, {"u100"})->containers, SizeIs(most_named_containers));
    EXPECT_EQ(named_pod(&names, {"u100"})->containers.back().id, "aaaaaaaaaaaa10") << "the newest first";
}

TEST(RuntimeNames, AListThatCouldNotBeReadIsAnError) {
    for (const auto* call : {"sandboxes", "containers"}) {
        fakes::FakeContainerRuntime runtime;
        runtime.all_sandboxes = {sandbox("s1", "u1")};
        ASSERT_TRUE(read_names(runtime));
        runtime.fails.emplace(call, Error{ErrorKind::unreachable, "container runtime", "no answer", ""});
        EXPECT_FALSE(read_names(runtime)) << call;
    }
}

}  // namespace
}  // namespace evictd::observe

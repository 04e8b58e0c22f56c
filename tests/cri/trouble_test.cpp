// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A containerd that is killed, that hangs, and one whose shim hangs.
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime_fixture.hpp"

namespace evictd::cri_test {
namespace {

struct TroubleTest : RuntimeFixture {
    static bool has(const std::vector<RuntimeContainer>& all, const std::string& id) {
        return std::any_of(all.begin(), all.end(), [&](const RuntimeContainer& one) { return one.id == id; });
    }
    template <class Value>
    static void expect_unreachable(const Result<Value>& result) {
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().kind, ErrorKind::unreachable) << result.error().text();
    }
};

TEST_F(TroubleTest, AfterARestartItsContainersAreThere) {
    const auto container = run("restart");
    kill_containerd();
    expect_unreachable(runtime->containers());
    expect_unreachable(runtime->remove_container(container));
    start_containerd();
    EXPECT_EQ(details_of(container).container.state, ContainerState::running);
    EXPECT_TRUE(runtime->stop_container(container, 0s));
}

TEST_F(TroubleTest, AContainerdThatIsKilledWhileItAnswersIsUnreachable) {
    const auto pod = make_pod("killed_while");
    // It ignores SIGTERM, so the call waits until containerd is killed.
    const auto container = make_container(pod, "stubborn", {"sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"});
    start_shell(container);
    std::jthread killer([this] {
        std::this_thread::sleep_for(200ms);
        kill_containerd();
    });
    expect_unreachable(runtime->stop_container(container, 600s));
    killer.join();
    start_containerd();
    EXPECT_TRUE(runtime->stop_container(container, 0s));
}

TEST_F(TroubleTest, AContainerdThatHangsIsGivenUp) {
    const auto hasty = connect({.read = 100ms, .read_one = 100ms, .change = 100ms});
    stop(containerd());
    expect_unreachable(hasty->version());
    expect_unreachable(hasty->containers());
    expect_unreachable(hasty->remove_image("sha256:none"));
    go_on();
    EXPECT_TRUE(wait_for([&] { return hasty->containers().has_value(); }));
}

TEST_F(TroubleTest, OneShimThatHangsHoldsUpItsOwnContainerAlone) {
    const auto hung = run("hung");
    const auto well = run("well");
    const auto hasty = connect({.read = 10s, .read_one = 10s, .change = 500ms});
    stop(parent_of(details_of(hung).pid));
    EXPECT_TRUE(hasty->containers());
    EXPECT_TRUE(hasty->sandboxes());
    EXPECT_TRUE(hasty->container(hung)) << "its state is in containerd's memory";
    EXPECT_TRUE(hasty->layer(well));
    const auto patient = connect({.read_one = 2s});
    EXPECT_TRUE(wait_for([&] {
        const auto layers = patient->layers();
        EXPECT_TRUE(layers) << layers.error().text();
        EXPECT_FALSE(has(*layers, hung)) << "of its layer nothing is known";
        return has(*layers, well);
    }));
    expect_unreachable(hasty->stop_container(hung, 0s));
    EXPECT_TRUE(runtime->stop_container(well, 0s));
    go_on();
    EXPECT_TRUE(runtime->stop_container(hung, 0s));
}

}  // namespace
}  // namespace evictd::cri_test

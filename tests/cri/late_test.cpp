// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An agent that was there before its container runtime: what it says of that, and what it does once a real containerd
// has come.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "agent_fixture.hpp"

namespace evictd::cri_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr auto unused_image = "localhost/spare:1";

class LateRuntimeTest : public AgentFixture {
protected:
    void SetUp() override {
        kill_containerd();
        ASSERT_EQ(::unlink(socket.c_str()), 0);
    }
    void TearDown() override {
        end_agent();
        if (::access(socket.c_str(), F_OK) != 0) start_containerd();
        if (!has_image(unused_image)) import_image("spare");  // others need it
        AgentFixture::TearDown();
    }
    void declare(const std::string& uid, const std::string& limit) const {
        directory_.write("pods/late.yaml",
                         "apiVersion: v1\nkind: Pod\nmetadata: {name: late, uid: " + uid +
                             "}\nspec:\n  containers:\n"
                             "  - {name: late, image: load, resources: {limits: {ephemeral-storage: " +
                             limit + "}}}\n");
    }
};

class LateWithAPodTest : public LateRuntimeTest {
protected:
    // A pod that keeps 8 MiB in its container's layer; it goes on without containerd.
    void SetUp() override {
        cgroup += "/kubepods/besteffort";
        container = make_container(make_pod("uid-of-late"), "late",
                                   {"sh", "-c", "head -c 8388608 /dev/zero > /full; exec sleep 1000000"});
        start(container);
        EXPECT_TRUE(wait_for([&] {
            const auto layers = runtime->layer(container);
            return layers && layers->size() == 1 && layers->front().layer &&
                   layers->front().layer->used >= Bytes{8388608};
        }));
        LateRuntimeTest::SetUp();
    }
    std::string container;
};

TEST_F(LateWithAPodTest, ItsLayersAreKnownOnceItIsThere) {
    declare("uid-of-late", "4Mi");
    start_agent("evictionHard: {memory.available: 1Mi}\n");
    EXPECT_TRUE(wait_for([&] {
        return has(status(), "none at /run/containerd/containerd.sock or /run/crio/crio.sock");
    })) << status();
    EXPECT_TRUE(wait_for([&] { return has(events(), "The container runtime does not answer"); }));
    EXPECT_TRUE(wait_for([&] { return has(status(), "\"late\""); }));
    EXPECT_THAT(events(), Not(HasSubstr("\"Evicting\""))) << "what it keeps is not known";
    start_containerd();
    EXPECT_TRUE(wait_for([&] { return has(events(), "The container runtime answers again at /run/containerd"); }));
    EXPECT_TRUE(wait_for([&] { return has(events(), "\"Evicting\""); })) << "it keeps more than its limit";
    EXPECT_THAT(status(), HasSubstr("filesystems, survey, /run/containerd/containerd.sock"));
    EXPECT_TRUE(wait_for([&] { return !has(status(), "none at /run/containerd"); })) << status();
    EXPECT_TRUE(wait_for([&] { return details_of(container).container.state == ContainerState::exited; }));
}

TEST_F(LateRuntimeTest, ItsGarbageIsRemovedOnceItIsThere) {
    start_agent("evictionHard: {nodefs.available: 99%}\nimageMinimumGCAge: 1s\ncontainerRuntimeEndpoint: unix://" +
                socket + "\n");
    EXPECT_TRUE(wait_for([&] { return has(status(), "containerd.sock is not there"); })) << status();
    EXPECT_TRUE(wait_for([&] { return has(events(), "EvictionThresholdMet"); }));
    start_containerd();
    EXPECT_TRUE(wait_for([&] { return !has_image(unused_image); })) << "nobody uses it";
    EXPECT_THAT(events(), HasSubstr("The container runtime answers again at " + socket));
    EXPECT_TRUE(has_image("localhost/load:1") && has_image("localhost/pause:1"));
}

}  // namespace
}  // namespace evictd::cri_test

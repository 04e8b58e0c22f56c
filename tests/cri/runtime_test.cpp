// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a containerd that is well answers, and what becomes of what is stopped and removed.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime_fixture.hpp"

namespace evictd::cri_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct RuntimeTest : RuntimeFixture {
    template <class Value>
    static void expect_vanished(const Result<Value>& result) {
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().kind, ErrorKind::vanished) << result.error().text();
    }
    template <class All>
    static auto find(const All& all, const std::string& id) {
        return std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.id == id; });
    }
};

TEST_F(RuntimeTest, SaysWhatItIs) {
    const auto version = runtime->version();
    ASSERT_TRUE(version) << version.error().text();
    EXPECT_EQ(version->name, "containerd");
    EXPECT_THAT(version->version, HasSubstr(from_environment("CRI_VERSION")));
    EXPECT_EQ(version->api, "v1");
    if (!says_its_sandbox_image()) (void)make_pod("pause");  // which is asked instead
    EXPECT_EQ(runtime->sandbox_image(), std::string(pause_image));
    const auto conditions = runtime->conditions();
    ASSERT_TRUE(conditions);
    EXPECT_THAT(*conditions, Contains(::testing::AllOf(::testing::Field(&RuntimeCondition::type, "RuntimeReady"),
                                                       ::testing::Field(&RuntimeCondition::status, true))));
}

TEST_F(RuntimeTest, ListsEveryState) {
    const auto pod = make_pod("states");
    const auto created = make_container(pod, "created", {"sh", "-c", "exit 7"});
    const auto exited = make_container(pod, "exited", {"sh", "-c", "exit 7"});
    start(exited);
    ASSERT_TRUE(wait_for([&] { return details_of(exited).container.state == ContainerState::exited; }));
    const auto running = run("running");

    const auto containers = runtime->containers();
    ASSERT_TRUE(containers) << containers.error().text();
    ASSERT_NE(find(*containers, created), containers->end());
    EXPECT_EQ(find(*containers, created)->state, ContainerState::created);
    EXPECT_EQ(find(*containers, exited)->state, ContainerState::exited);
    EXPECT_EQ(find(*containers, exited)->sandbox, pod);
    const auto found = find(*containers, running);
    EXPECT_EQ(found->state, ContainerState::running);
    EXPECT_EQ(found->name, "running");
    EXPECT_EQ(found->pod, "uid-of-running");
    EXPECT_EQ(found->image, "localhost/load:1");
    EXPECT_GT(found->created, WallTime{});

    const auto images = runtime->images();
    ASSERT_TRUE(images);
    const auto image = find(*images, found->image_ref);
    ASSERT_NE(image, images->end()) << "what a container runs is an image's ID";
    EXPECT_THAT(image->tags, Contains("localhost/load:1"));
    EXPECT_GT(image->size, 0_B);

    const auto sandboxes = runtime->sandboxes();
    ASSERT_TRUE(sandboxes);
    const auto sandbox = find(*sandboxes, pod);
    ASSERT_NE(sandbox, sandboxes->end());
    EXPECT_TRUE(sandbox->ready);
    EXPECT_EQ(sandbox->name + " " + sandbox->namespace_name + " " + sandbox->pod, "states default uid-states");
    EXPECT_EQ(details_of(exited).exit_code, 7);
    EXPECT_TRUE(details_of(exited).finished);
    EXPECT_FALSE(details_of(created).started);
}

// No release here has them. Its answer may come while the request is still being sent: most of the time, so in 20
// times.
TEST_F(RuntimeTest, SaysThatItHasNoStreams) {
    constexpr int unimplemented = 12;
    for (int i = 0; i < 20; i++) {
        const auto own = std::move(*cri::Connection::make(socket));
        const auto answer = own->stream("runtime.v1.RuntimeService", "StreamContainers", {}, 10s,
                                        [](std::string_view /*message*/) { return Status{}; });
        ASSERT_TRUE(answer) << answer.error().text();
        EXPECT_EQ(answer->code, unimplemented);
    }
}

TEST_F(RuntimeTest, SaysWhereAContainersProcessesAre) {
    const auto container = run("where");
    const auto details = details_of(container);
    EXPECT_GT(details.pid, 1);
    EXPECT_TRUE(details.started);
    EXPECT_FALSE(details.finished);
    EXPECT_EQ(details.cgroup, cgroup + "/podwhere/" + container);
    EXPECT_EQ(details.container.sandbox, sandbox_of(container));
    std::ifstream file("/proc/" + std::to_string(details.pid) + "/cgroup");
    const std::string cgroups((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    EXPECT_THAT(cgroups, HasSubstr(":" + details.cgroup + "\n"));
    const auto sandbox = runtime->sandbox(details.container.sandbox);
    ASSERT_TRUE(sandbox) << sandbox.error().text();
    EXPECT_TRUE(sandbox->host_network);
    EXPECT_FALSE(sandbox->host_pid);
}

TEST_F(RuntimeTest, MeasuresLayersAndFilesystems) {
    const auto container = make_container(make_pod("layer"), "layer",
                                          {"sh", "-c", "dd if=/dev/zero of=/file bs=1M count=3; exec sleep 1000"});
    start(container);
    ASSERT_TRUE(wait_for([&] {
        const auto layers = runtime->layers();
        const auto found = find(*layers, container);
        return found != layers->end() && found->layer->used >= 3_MiB;
    }));
    const auto one = runtime->layer(container);
    ASSERT_TRUE(one) << one.error().text();
    ASSERT_EQ(one->size(), 1U);
    EXPECT_GE(one->front().layer->used, 3_MiB);
    EXPECT_GT(one->front().layer->inodes.value_or(0), 0);
    ASSERT_TRUE(wait_for([&] {
        const auto filesystems = runtime->filesystems();
        return !filesystems->images.empty() && filesystems->images.front().usage.used > 3_MiB;
    }));
    EXPECT_THAT(runtime->filesystems()->images.front().directory, HasSubstr(socket.substr(0, socket.find("/sock/"))));
}

TEST_F(RuntimeTest, StopsAndRemovesAContainer) {
    const auto polite = run("polite");
    ASSERT_TRUE(runtime->stop_container(polite, 20s));
    EXPECT_EQ(details_of(polite).exit_code, 3);
    const auto killed = run("killed");
    ASSERT_TRUE(runtime->stop_container(killed, 0s));
    EXPECT_EQ(details_of(killed).exit_code, 137);
    EXPECT_TRUE(runtime->stop_container(killed, 0s)) << "again";
    EXPECT_TRUE(runtime->remove_container(killed));
    EXPECT_TRUE(runtime->remove_container(killed)) << "again";
    expect_vanished(runtime->container(killed));
    const auto stopped = runtime->stop_container(killed, 0s);  // containerd 1.6 says so, 1.7 says nothing
    EXPECT_TRUE(stopped || stopped.error().kind == ErrorKind::vanished);
    const auto left = runtime->containers();
    ASSERT_TRUE(left);
    EXPECT_EQ(find(*left, killed), left->end());
}

TEST_F(RuntimeTest, RemovesWhatRuns) {
    const auto container = run("runs");
    const auto pid = details_of(container).pid;
    EXPECT_TRUE(runtime->remove_container(container)) << "so its caller has to look";
    EXPECT_TRUE(wait_for([&] { return parent_of(pid) == 0; }));
}

TEST_F(RuntimeTest, StopsAndRemovesASandboxWithItsContainers) {
    const auto container = run("whole");
    const auto pod = sandbox_of(container);
    ASSERT_TRUE(runtime->stop_sandbox(pod));
    EXPECT_FALSE(runtime->sandbox(pod)->sandbox.ready);
    EXPECT_TRUE(runtime->stop_sandbox(pod)) << "again";
    EXPECT_TRUE(runtime->remove_sandbox(pod));
    EXPECT_TRUE(runtime->remove_sandbox(pod)) << "again";
    expect_vanished(runtime->sandbox(pod));
    expect_vanished(runtime->container(container));
}

TEST_F(RuntimeTest, RemovesAnImage) {
    std::string id;
    const auto is_there = [&] {
        const auto images = runtime->images();
        EXPECT_TRUE(images);
        for (const auto& image : *images) {
            if (std::find(image.tags.begin(), image.tags.end(), "localhost/spare:1") != image.tags.end()) id = image.id;
        }
        return find(*images, id) != images->end();
    };
    ASSERT_TRUE(is_there());
    EXPECT_TRUE(runtime->remove_image(id));
    EXPECT_FALSE(is_there());
    EXPECT_TRUE(runtime->remove_image(id)) << "again";
}

TEST_F(RuntimeTest, DoesNotKnowWhatIsNotThere) {
    const std::string none(64, 'f');
    expect_vanished(runtime->container(none));
    expect_vanished(runtime->sandbox(none));
    EXPECT_THAT(*runtime->layer(none), IsEmpty());
    EXPECT_TRUE(runtime->remove_container(none));
    EXPECT_TRUE(runtime->remove_sandbox(none));
}

}  // namespace
}  // namespace evictd::cri_test

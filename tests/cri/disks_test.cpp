// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A small filesystem as the node's, filled by pods of a real containerd: who is evicted when its inodes run out, and
// what is said of a pod that fills it before it is full.
#include <chrono>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/statvfs.h>

#include "agent_fixture.hpp"

namespace evictd::cri_test {
namespace {

class DisksTest : public AgentFixture {
protected:
    DisksTest() { cgroup += "/kubepods/besteffort"; }
    void TearDown() override {
        AgentFixture::TearDown();
        (void)run_in_rig("umount -l " + small());
    }
    [[nodiscard]] std::string small() const { return directory_ / "small"; }
    // Only in the rig's mount namespace, with which it goes in any case.
    void mount_small(const std::string& size, const std::string& inodes) {
        const auto image = directory_ / "image";
        ASSERT_TRUE(run_in_rig("sh -c 'mkdir " + small() + " && truncate -s " + size + " " + image +
                               " && mkfs.ext4 -q -m 0 -E lazy_itable_init=0,lazy_journal_init=0 -N " + inodes + " " +
                               image + " && mount -o loop " + image + " " + small() + "'"));
    }
    [[nodiscard]] std::string volume_of(const std::string& pod) const {
        return small() + "/pods/uid-of-" + pod + "/volumes/kubernetes.io~empty-dir/data";
    }
    // Its container runs `script` in its volume once go() is called, and then does nothing.
    std::string make_writer(const std::string& pod, const std::string& script) {
        EXPECT_TRUE(run_in_rig("mkdir -p '" + volume_of(pod) + "'"));
        auto container = make_container(
            make_pod("uid-of-" + pod), pod,
            {"sh", "-c", "cd /data; until [ -e go ]; do sleep 0.1; done; " + script + "; exec sleep 1000000"},
            "localhost/load:1", volume_of(pod));
        start(container);
        directory_.write("pods/" + pod + ".yaml",
                         "{apiVersion: v1, kind: Pod, metadata: {name: " + pod + ", uid: uid-of-" + pod +
                             "}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: load}], "
                             "volumes: [{name: data, emptyDir: {}}]}}\n");
        return container;
    }
    void go(const std::string& pod) { EXPECT_TRUE(run_in_rig("touch '" + volume_of(pod) + "/go'")); }
    // What a kubelet does after an eviction.
    void remove_volume(const std::string& pod) {
        EXPECT_TRUE(run_in_rig("rm -rf '" + small() + "/pods/uid-of-" + pod + "'"));
    }
    [[nodiscard]] std::string of_kubelet() const { return "  kubelet: {rootDirectory: " + small() + "}\n"; }
    [[nodiscard]] double available_mebi() const {
        struct statvfs status {};
        EXPECT_EQ(::statvfs(in_rig(small()).c_str(), &status), 0);
        return static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize) / (1U << 20U);
    }
    // Of any pod where `pod` is empty.
    [[nodiscard]] bool reported(const std::string& reason, const std::string& pod = {}) const {
        std::istringstream lines(events());
        for (std::string line; std::getline(lines, line);) {
            const auto event = nlohmann::json::parse(line, nullptr, false);
            if (!event.is_object() || event.value("reason", "") != reason) continue;
            if (pod.empty() || (event.contains("pod") && event["pod"].value("name", "") == pod)) return true;
        }
        return false;
    }
    [[nodiscard]] bool runs(const std::string& container) {
        return details_of(container).container.state == ContainerState::running;
    }
};

class InodesTest : public DisksTest {
protected:
    // The agent's collection takes it, and others need it.
    void SetUp() override { import_image("spare"); }
    void TearDown() override {
        end_agent();
        import_image("spare");
        DisksTest::TearDown();
    }
    // As on a node with one filesystem: to the agent, and to it alone, the runtime's is the small one, so that garbage
    // is removed before a pod is.
    [[nodiscard]] std::string small_is_the_runtimes() {
        const auto filesystems = runtime->filesystems();
        EXPECT_TRUE(filesystems && !filesystems->images.empty());
        if (!filesystems || filesystems->images.empty()) return "false";
        return "mount --bind " + small() + " " + filesystems->images.front().directory;
    }
};

// By bytes it would be the other one.
TEST_F(InodesTest, ThePodWithMostOfThemGoesWhenReclaimWasNotEnough) {
    mount_small("128M", "8192");
    const auto many = make_writer("many", "for i in $(seq 3000); do : > $i; done");
    const auto few = make_writer("few", "for i in $(seq 300); do : > $i; done; head -c 33554432 /dev/zero > large");
    start_agent("evictionHard: {nodefs.inodesFree: 5500}\nimageMinimumGCAge: 1s\ncontainerRuntimeEndpoint: unix://" +
                    socket + "\n",
                of_kubelet(), small_is_the_runtimes());
    ASSERT_TRUE(wait_for([&] {
        const auto text = status();
        return has(text, "\"many\"") && has(text, "\"few\"") && has(text, "nodefs.inodesFree");
    })) << status();
    const double empty = available_mebi();
    go("few");
    ASSERT_TRUE(wait_for([&] { return available_mebi() < empty - 31; }));
    EXPECT_FALSE(reported("EvictionThresholdMet")) << events();
    go("many");
    ASSERT_TRUE(wait_for([&] { return reported("Evicted", "many"); })) << status();
    remove_volume("many");
    EXPECT_TRUE(reported("ReclaimInsufficient"));
    EXPECT_FALSE(has_image("localhost/spare:1")) << "the reclaim has taken it";
    EXPECT_TRUE(wait_for([&] { return !runs(many); }));
    EXPECT_TRUE(wait_for([&] { return reported("EvictionThresholdCleared"); })) << status();
    EXPECT_FALSE(reported("Evicting", "few"));
    EXPECT_TRUE(runs(few));
}

TEST_F(DisksTest, APodThatFillsTheDiskIsNamedWithTheTimeThatIsLeft) {
    mount_small("512M", "1024");
    (void)make_writer("grower", "while :; do head -c 1048576 /dev/zero >> full; sleep 0.4; done");
    (void)make_writer("still", "head -c 33554432 /dev/zero > large");
    const double empty = available_mebi();
    go("still");
    ASSERT_TRUE(wait_for([&] { return available_mebi() < empty - 31; }));
    start_agent("evictionHard: {nodefs.available: 32Mi}\n", of_kubelet());
    ASSERT_TRUE(wait_for([&] { return has(status(), "\"grower\"") && has(status(), "\"still\""); })) << status();
    go("grower");
    nlohmann::json said;
    const auto is_named = [&] {
        const auto json = nlohmann::json::parse(status(), nullptr, false);
        if (!json.is_object() || !json.contains("disk_exhaustion")) return false;
        said = json["disk_exhaustion"][0];
        return said.contains("pod");
    };
    const auto began = std::chrono::steady_clock::now();
    const double at_first = available_mebi();
    ASSERT_TRUE(wait_for(is_named)) << status();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    const double now = available_mebi();
    const double rate = (at_first - now) / took.count();  // MiB a second
    EXPECT_EQ(said["signal"], "nodefs.available");
    EXPECT_EQ(said["pod"], "default/grower") << said;
    EXPECT_GT(said["share_percent"], 50) << said;
    EXPECT_EQ(said["threshold"], "32Mi") << said;
    const double left = said["left_ms"].get<double>() / 1000;
    const double expected = (now - 32) / rate;
    EXPECT_GT(left, expected / 2) << said;
    EXPECT_LT(left, expected * 2) << said;
    EXPECT_FALSE(reported("Evicting")) << "it is only said";
}

// 2.5 MiB a second: 480 MiB last for 190 s, and a hard threshold of 32 MiB is 180 s away.
TEST_F(DisksTest, AThresholdInTimeEvictsLongBeforeTheDiskIsFull) {
    mount_small("512M", "1024");
    const auto grower = make_writer("grower", "while :; do head -c 1048576 /dev/zero >> full; sleep 0.4; done");
    const auto still = make_writer("still", "head -c 1048576 /dev/zero > small");
    start_agent("evictionHard: {nodefs.available: 32Mi}\n",
                "  timeToExhaustion: {diskSoft: 15m, diskSoftGracePeriod: 2s}\n" + of_kubelet());
    ASSERT_TRUE(wait_for([&] { return has(status(), "\"grower\"") && has(status(), "\"still\""); })) << status();
    go("still");
    go("grower");
    ASSERT_TRUE(wait_for([&] { return reported("Evicted", "grower"); })) << status();
    const double left = available_mebi();
    remove_volume("grower");
    EXPECT_GT(left, 300);
    EXPECT_THAT(events(), ::testing::HasSubstr("used up in")) << "why";
    EXPECT_THAT(events(), ::testing::HasSubstr("DiskPressure"));
    EXPECT_TRUE(wait_for([&] { return !runs(grower); }));
    EXPECT_TRUE(wait_for([&] { return reported("EvictionThresholdCleared"); })) << status();
    EXPECT_FALSE(reported("Evicting", "still"));
    EXPECT_TRUE(runs(still));
}

}  // namespace
}  // namespace evictd::cri_test

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// That of a pod's directory only the kubelet's own goes, nothing outside of it, and nothing at all while something of
// it is mounted anywhere, or nobody can tell.
#include "disk/pod_remains.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "tree.hpp"

namespace evictd::disk {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

const std::string uid = "0a1b2c3d-0000-4000-8000-00000000000a";

class PodRemainsTest : public testing::Test {
protected:
    PodRemainsTest() {
        make_process("1", "/init.scope", "node");
        make_process("self", "/system.slice/evictd.service", "node");
        link("self", "pid", "pid:[4026531836]");
        make_pod();
        fs::create_directories(other + "/volumes");
        write(other + "/etc-hosts");
    }
    void make_pod() const {
        fs::create_directories(pod + "/volumes/kubernetes.io~empty-dir/cache");
        fs::create_directories(pod + "/volumes/kubernetes.io~projected/token");
        fs::create_directories(pod + "/plugins/kubernetes.io~empty-dir/cache");
        fs::create_directories(pod + "/containers/app");
        write(pod + "/containers/app/1234abcd");
        write(pod + "/plugins/kubernetes.io~empty-dir/cache/ready");
        write(pod + "/etc-hosts");
        write(cache + "/file");
    }
    static void write(const std::string& path, const std::string& text = "text") { std::ofstream(path) << text; }
    void link(const std::string& pid, const std::string& name, const std::string& target) const {
        fs::create_directories(proc + "/" + pid + "/ns");
        fs::remove(proc + "/" + pid + "/ns/" + name);
        fs::create_symlink(target, proc + "/" + pid + "/ns/" + name);
    }
    // `mounts`: its mount namespace.
    void make_process(const std::string& pid, const std::string& cgroup, const std::string& mounts,
                      const std::string& mountinfo = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n") const {
        link(pid, "mnt", mounts);
        write(proc + "/" + pid + "/cgroup", "0::" + cgroup + "\n");
        write(proc + "/" + pid + "/mountinfo", mountinfo);
    }
    ErrorKind refused() {
        const auto done = remains.remove_volumes({uid});
        EXPECT_FALSE(done);
        return done ? ErrorKind::failed : done.error().kind;
    }
    DeepDir dir;
    std::string pods = dir.path() + "/pods";
    std::string proc = dir.path() + "/proc";
    std::string pod = pods + "/" + uid;
    std::string other = pods + "/0a1b2c3d-0000-4000-8000-00000000000b";
    std::string cache = pod + "/volumes/kubernetes.io~empty-dir/cache";
    PodRemains remains{{.pods = pods, .proc = proc}};
};

TEST_F(PodRemainsTest, AllThatIsTheKubeletsGoesAndNothingElse) {
    write(dir.path() + "/outside");
    fs::create_directory_symlink(dir.path(), cache + "/up");
    fs::create_directory_symlink("/", cache + "/root");
    write(cache + "/a\nb\xff");
    write(cache + "/-rf");
    ASSERT_TRUE(remains.check_volumes({uid}));
    const auto done = remains.remove_volumes({uid});
    ASSERT_TRUE(done) << done.error().text();
    EXPECT_FALSE(fs::exists(pod));
    EXPECT_TRUE(fs::exists(dir.path() + "/outside"));
    EXPECT_TRUE(fs::exists(other + "/etc-hosts"));
    EXPECT_EQ(remains.check_volumes({uid}).error().kind, ErrorKind::vanished);
    EXPECT_EQ(refused(), ErrorKind::vanished);
}

TEST_F(PodRemainsTest, DataOfAVolumePluginStaysAndAllElseWithIt) {
    for (const char* plugin : {"kubernetes.io~nfs", "kubernetes.io~csi", "kubernetes.io~local-volume", "odd\nname"}) {
        const auto volume = pod + "/volumes/" + plugin + "/data";
        fs::create_directories(volume);
        write(volume + "/precious");
        EXPECT_EQ(refused(), ErrorKind::invalid) << plugin;
        EXPECT_TRUE(fs::exists(volume + "/precious"));
        EXPECT_TRUE(fs::exists(cache + "/file"));
        EXPECT_TRUE(fs::exists(pod + "/etc-hosts"));
        fs::remove_all(pod + "/volumes/" + plugin);
    }
    write(pod + "/unknown");
    EXPECT_EQ(refused(), ErrorKind::invalid);
    EXPECT_TRUE(fs::exists(pod + "/unknown"));
}

TEST_F(PodRemainsTest, ALinkInPlaceOfADirectoryIsNotFollowed) {
    fs::create_directories(dir.path() + "/outside/kubernetes.io~empty-dir/x");
    for (const auto& place : {pod + "/volumes/kubernetes.io~empty-dir", pod + "/volumes/kubernetes.io~projected",
                              pod + "/volumes", pod + "/containers", pod + "/plugins", pod}) {
        make_pod();
        fs::rename(place, dir.path() + "/aside");
        fs::create_directory_symlink(dir.path() + "/outside", place);
        EXPECT_EQ(refused(), ErrorKind::invalid) << place;
        EXPECT_TRUE(fs::exists(dir.path() + "/outside/kubernetes.io~empty-dir/x")) << place;
        fs::remove(place);
        fs::rename(dir.path() + "/aside", place);
    }
    // Within the pod's own directory: the data of another volume.
    fs::create_directories(pod + "/volumes/kubernetes.io~nfs.aside/data");
    write(pod + "/volumes/kubernetes.io~nfs.aside/data/precious");
    for (const char* link : {"kubernetes.io~empty-dir", "kubernetes.io~projected"}) {
        make_pod();
        fs::rename(pod + "/volumes/kubernetes.io~nfs.aside", pod + "/precious");
        fs::remove_all(pod + "/volumes/" + link);
        fs::create_directory_symlink("../precious", pod + "/volumes/" + link);
        EXPECT_EQ(refused(), ErrorKind::invalid);
        fs::rename(pod + "/precious", pod + "/volumes/kubernetes.io~nfs.aside");
        EXPECT_TRUE(fs::exists(pod + "/volumes/kubernetes.io~nfs.aside/data/precious")) << link;
        fs::remove(pod + "/volumes/" + link);
    }
    for (const char* name : {"", ".", "..", "../pods", "a/b"}) {
        EXPECT_EQ(remains.remove_volumes({name}).error().kind, ErrorKind::invalid) << name;
    }
    EXPECT_TRUE(fs::exists(other + "/etc-hosts"));
}

TEST_F(PodRemainsTest, AVeryDeepTreeGoesAndALargeOneInSeveralCalls) {
    {
        auto at = open_tree(cache);
        for (int i = 0; i < 4000; ++i) at = make_directory(at, "d");
        make_file(at, "file", 1);
    }
    PodRemains slow({.pods = pods, .proc = proc}, 0s);
    const auto removed = slow.remove_volumes({uid});
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().kind, ErrorKind::exhausted);
    const auto done = remains.remove_volumes({uid});
    EXPECT_TRUE(done) << done.error().text();
    EXPECT_FALSE(fs::exists(pod));
}

TEST_F(PodRemainsTest, NothingGoesWhileSomethingOfItIsMountedInAnyNamespace) {
    const auto line =
        "40 22 0:50 / /data/kubelet/pods/" + uid + "/volumes/kubernetes.io~projected/token rw - tmpfs tmpfs rw\n";
    const auto source =
        "41 22 8:1 /kubelet/pods/" + uid + "/volumes/kubernetes.io~empty-dir/cache /cache rw - ext4 x rw\n";
    for (const auto& mountinfo : {line, source}) {
        for (const char* pid : {"1", "self", "77"}) {
            make_process(pid, "/x", std::string("of-") + pid, mountinfo);
            EXPECT_EQ(remains.check_volumes({uid}).error().kind, ErrorKind::failed) << pid;
            EXPECT_EQ(refused(), ErrorKind::failed) << pid;
            make_process(pid, "/x", "node");
        }
    }
    EXPECT_TRUE(fs::exists(cache + "/file"));
    EXPECT_TRUE(remains.check_volumes({uid}));
}

TEST_F(PodRemainsTest, NothingGoesWhereTheNodesMountsCannotBeSeen) {
    link("self", "pid", "pid:[4026532000]");
    EXPECT_EQ(refused(), ErrorKind::invalid) << "process 1 is the container's own";
    make_process("1", "/init.scope", "another");
    EXPECT_EQ(refused(), ErrorKind::invalid) << "or the pause container's, whose root has none of these pods";
    EXPECT_EQ(remains.life({uid}).error().kind, ErrorKind::invalid);
    fs::create_symlink("/", proc + "/1/root");
    EXPECT_TRUE(remains.check_volumes({uid})) << "with hostPID in a nested node";
    fs::remove(proc + "/1/mountinfo");
    EXPECT_EQ(refused(), ErrorKind::failed) << "it cannot be read";
    fs::remove_all(proc + "/1");
    EXPECT_EQ(refused(), ErrorKind::invalid) << "there is none";
    link("self", "pid", "pid:[4026531836]");
    EXPECT_EQ(refused(), ErrorKind::invalid) << "there is none";
    EXPECT_TRUE(fs::exists(cache + "/file"));
}

TEST_F(PodRemainsTest, APodIsAliveWhileAProcessIsInItsCgroup) {
    EXPECT_EQ(remains.life({uid}).value(), "");
    make_process("77", "/kubepods/burstable/pod" + uid + "/app", "node");
    EXPECT_EQ(remains.life({uid}).value(), "process 77 is in its cgroup");
    make_process("77", "/kubepods.slice/kubepods-pod0a1b2c3d_0000_4000_8000_00000000000a.slice/x", "node");
    EXPECT_EQ(remains.life({uid}).value(), "process 77 is in its cgroup");
    make_process("77", "/kubepods/burstable/pod0a1b2c3d-0000-4000-8000-00000000000b", "node");
    EXPECT_EQ(remains.life({uid}).value(), "");
    fs::remove_all(proc);
    EXPECT_FALSE(remains.life({uid}));
}

// The kernel then shows the process without namespaces, and on v1 in the root cgroup.
TEST_F(PodRemainsTest, AProcessWhoseFirstThreadHasEndedIsSeenByItsOthers) {
    fs::create_directories(proc + "/77/task/77");
    write(proc + "/77/cgroup", "4:memory:/\n");
    make_process("77/task/78", "/kubepods/pod" + uid, "of-78",
                 "40 22 0:50 / /pods/" + uid + "/volumes rw - tmpfs t rw\n");
    EXPECT_EQ(remains.life({uid}).value(), "process 77 is in its cgroup");
    EXPECT_EQ(refused(), ErrorKind::failed);
    make_process("77/task/78", "/kubepods", "of-78");
    EXPECT_EQ(remains.life({uid}).value(), "");
    EXPECT_TRUE(remains.check_volumes({uid}));
}

TEST_F(PodRemainsTest, OfOneNamespaceEachRootIsLookedAt) {
    make_process("50", "/x", "shared");
    fs::create_symlink("/jail", proc + "/50/root");
    make_process("77", "/x", "shared", "40 22 0:50 / /pods/" + uid + "/volumes rw - tmpfs t rw\n");
    fs::create_symlink("/", proc + "/77/root");
    EXPECT_EQ(refused(), ErrorKind::failed) << "it may be unmounted: `invalid` is never tried again";
}

// In a mount namespace of its own, which no table of processes shows here.
TEST_F(PodRemainsTest, WhatIsMountedIsNotEntered) {
    std::thread([&] {
        if (::unshare(CLONE_NEWNS) != 0) GTEST_SKIP() << "not allowed here";
        ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
        for (const auto& place : {cache + "/mounted", cache, pod + "/volumes/kubernetes.io~projected/token", pod}) {
            make_pod();
            fs::create_directories(cache + "/mounted");
            ASSERT_EQ(::mount("evictd-test", place.c_str(), "tmpfs", 0, "size=64k"), 0) << place;
            write(place + "/kept");
            EXPECT_EQ(refused(), ErrorKind::invalid) << place;
            EXPECT_TRUE(fs::exists(place + "/kept"));
            ASSERT_EQ(::umount2(place.c_str(), MNT_DETACH), 0);
        }
        const auto outside = dir.path() + "/outside";
        fs::create_directories(outside);
        write(outside + "/kept");
        fs::create_directories(cache + "/mounted");
        ASSERT_EQ(::mount(outside.c_str(), (cache + "/mounted").c_str(), nullptr, MS_BIND, nullptr), 0);
        EXPECT_EQ(refused(), ErrorKind::invalid) << "of the same filesystem";
        EXPECT_TRUE(fs::exists(outside + "/kept"));
        ASSERT_EQ(::umount2((cache + "/mounted").c_str(), MNT_DETACH), 0);
    }).join();
}

TEST_F(PodRemainsTest, WherePodsAreNotSeenNobodyKnowsWhetherOneHasVolumes) {
    fs::rename(pods, pods + "-elsewhere");
    EXPECT_EQ(refused(), ErrorKind::failed) << "not `vanished`: its logs, by which it is found again, have to wait";
    const auto seen = remains.check_volumes({uid});
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().kind, ErrorKind::failed);
}

// Somebody may mount it writable: not even what is deep in a tree is given up.
TEST_F(PodRemainsTest, WhatIsReadOnlyIsTriedAgain) {
    std::thread([&] {
        if (::unshare(CLONE_NEWNS) != 0) GTEST_SKIP() << "not allowed here";
        ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
        fs::remove_all(pod + "/volumes/kubernetes.io~projected");
        ASSERT_EQ(::mount(pods.c_str(), pods.c_str(), nullptr, MS_BIND, nullptr), 0);
        ASSERT_EQ(::mount(nullptr, pods.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr), 0);
        EXPECT_EQ(refused(), ErrorKind::failed);
        EXPECT_TRUE(fs::exists(cache + "/file"));
        ASSERT_EQ(::umount2(pods.c_str(), MNT_DETACH), 0);
        const auto done = remains.remove_volumes({uid});
        EXPECT_TRUE(done) << done.error().text();
    }).join();
}

}  // namespace
}  // namespace evictd::disk

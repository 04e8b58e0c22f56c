// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pins on a BPF filesystem that everybody may write to, which is how it is mounted by default: what others put there is
// neither followed nor removed.
#include "kernel/pins.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>

#include <bpf/bpf.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fakes/failing_syscalls.hpp"
#include "fakes/temp_dir.hpp"
#include "kernel/bpf_fixture.hpp"

namespace evictd::kernel_test {
namespace {

namespace fs = std::filesystem;
using testing::Test;

class Pins : public Test {
protected:
    Pins() {
        fs::create_directory(bpffs);
        EXPECT_EQ(::mount("bpf", bpffs.c_str(), "bpf", 0, "mode=1777"), 0);
        temp.write("victim/precious", "text");
    }
    ~Pins() override { (void)::umount2(bpffs.c_str(), MNT_DETACH); }

    static void make_as_somebody(const std::string& at) {
        fs::create_directory(at);
        EXPECT_EQ(::chown(at.c_str(), 65534, 65534), 0);
    }
    static bool pin_map(const std::string& at, const char* name, bpf_map_type type) {
        const bool hash = type == BPF_MAP_TYPE_HASH;
        const sys::Fd map(bpf_map_create(type, name, hash ? 8 : 4, 8, 1, nullptr));
        return map && bpf_obj_pin(map.get(), at.c_str()) == 0;
    }
    static std::string why(const Result<kernel::PinDirectory>& prepared) {
        return prepared ? "" : prepared.error().text();
    }

    fakes::TempDir temp;
    std::string bpffs = temp / "bpf";
    std::string path = temp / "bpf/evictd";
};

TEST_F(Pins, ADirectoryThatALocalUserMadeIsRefusedAndWhatItLinksToStays) {
    make_as_somebody(path);
    fs::create_directory_symlink(temp / "victim", path + "/links");
    const auto prepared = kernel::prepare_pins(path);
    EXPECT_NE(why(prepared).find("belongs to user 65534"), std::string::npos) << why(prepared);
    EXPECT_FALSE(kernel::remove_left_pins(path));
    EXPECT_TRUE(fs::exists(temp / "victim/precious"));
    EXPECT_TRUE(fs::exists(path + "/links"));
}

TEST_F(Pins, ALinkInPlaceOfTheDirectoryOrOfLinksIsNotFollowed) {
    fs::create_directory_symlink(temp / "victim", path);
    EXPECT_NE(why(kernel::prepare_pins(path)).find("symbolic link"), std::string::npos);
    fs::remove(path);
    fs::create_directory(path);
    fs::create_directory_symlink(temp / "victim", path + "/links");
    EXPECT_NE(why(kernel::prepare_pins(path)).find("symbolic link"), std::string::npos);
    EXPECT_TRUE(fs::exists(temp / "victim/precious"));
}

TEST_F(Pins, ADirectoryThatOthersMayWriteToIsRefusedAndAnOwnOneIsClosed) {
    fs::create_directory(path);
    ASSERT_EQ(::chmod(path.c_str(), 0777), 0);
    EXPECT_NE(why(kernel::prepare_pins(path)).find("others may write to it"), std::string::npos);
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
    const auto prepared = kernel::prepare_pins(path);
    ASSERT_TRUE(prepared) << why(prepared);
    for (const auto& directory : {path, path + "/links"}) {
        struct stat status {};
        ASSERT_EQ(::stat(directory.c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777U, 0700U) << directory;
    }
}

TEST_F(Pins, TheMountPointItselfIsRefused) {
    ASSERT_EQ(::mount("bpf", bpffs.c_str(), "bpf", MS_REMOUNT, "mode=0700"), 0);
    ASSERT_EQ(::chmod(bpffs.c_str(), 0700), 0);
    ASSERT_TRUE(pin_map(bpffs + "/thresholds", "thresholds", BPF_MAP_TYPE_ARRAY));
    EXPECT_NE(why(kernel::prepare_pins(bpffs)).find("is the root of a BPF filesystem"), std::string::npos);
    EXPECT_TRUE(fs::exists(bpffs + "/thresholds"));
}

TEST_F(Pins, OnlyWhatIsOursByNameAndKindIsRemoved) {
    fs::create_directory(path);
    ASSERT_TRUE(pin_map(path + "/thresholds", "thresholds", BPF_MAP_TYPE_ARRAY));
    ASSERT_TRUE(pin_map(path + "/foreign", "thresholds", BPF_MAP_TYPE_ARRAY));
    ASSERT_TRUE(pin_map(path + "/pods", "pods", BPF_MAP_TYPE_ARRAY)) << "ours is a hash";
    ASSERT_TRUE(pin_map(path + "/drops", "others", BPF_MAP_TYPE_ARRAY));
    fs::create_directory(path + "/links");
    ASSERT_TRUE(pin_map(path + "/links/on_mark_victim", "on_mark_victim", BPF_MAP_TYPE_ARRAY));
    fs::create_symlink("../thresholds", path + "/links/on_cgroup_rmdir");
    const auto removed = kernel::remove_left_pins(path);
    ASSERT_TRUE(removed) << removed.error().text();
    EXPECT_EQ(removed->removed, std::vector<std::string>{"thresholds"});
    for (const char* name : {"foreign", "pods", "drops", "links/on_mark_victim"}) {
        EXPECT_TRUE(fs::exists(path + "/" + name)) << name;
        EXPECT_EQ(std::count(removed->foreign.begin(), removed->foreign.end(), name), 1) << name;
    }
    EXPECT_TRUE(fs::is_symlink(path + "/links/on_cgroup_rmdir"));
}

// EMFILE of bpf(2) is not the same as "belongs to somebody else".
TEST_F(Pins, NoOwnerIsReportedOfOneThatCannotBeRead) {
    fs::create_directory(path);
    ASSERT_TRUE(pin_map(path + "/thresholds", "thresholds", BPF_MAP_TYPE_ARRAY));
    Result<kernel::RemovedPins> removed;
    if (!fakes::with_failing(SYS_bpf, EMFILE, [&] { removed = kernel::remove_left_pins(path); }))
        GTEST_SKIP() << "no seccomp filters here";
    ASSERT_TRUE(removed) << removed.error().text();
    EXPECT_TRUE(removed->removed.empty());
    EXPECT_TRUE(removed->foreign.empty());
    ASSERT_EQ(removed->failed.size(), 1U);
    EXPECT_EQ(removed->failed.front().text(), path + "/thresholds: cannot be read: Too many open files");
    EXPECT_TRUE(fs::exists(path + "/thresholds"));
}

TEST_F(Pins, ThoseOfAnAgentThatWasKilledAreRemovedLinksToo) {
    const TestCgroups cgroups;
    PodProcess agent(cgroups, "", [&](const Line& line) {
        const auto bpf = load_bpf(path);
        line.say(bpf && (*bpf)->rows().back().chosen == path ? 'p' : 'x');
        line.hear();
    });
    ASSERT_EQ(agent.hear(), 'p');
    ASSERT_FALSE(fs::is_empty(path + "/links"));
    const auto early = kernel::remove_left_pins(path);
    ASSERT_FALSE(early) << "it is alive";
    EXPECT_EQ(early.error().kind, ErrorKind::unreachable);
    ::kill(agent.pid(), SIGKILL);  // and not reaped
    const auto removed = kernel::remove_left_pins(path);
    ASSERT_TRUE(removed) << removed.error().text();
    EXPECT_GT(removed->removed.size(), 10U);
    EXPECT_TRUE(removed->foreign.empty());
    EXPECT_FALSE(fs::exists(path));
    EXPECT_EQ(kernel::remove_left_pins(path).error().kind, ErrorKind::vanished);
}

// As in a container: to ask for a program by its number takes CAP_SYS_ADMIN.
void without_cap_sys_admin(const std::function<void()>& act) {
    std::thread([&act] {  // rights belong to threads
        __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
        std::array<__user_cap_data_struct, 2> rights{};
        ASSERT_EQ(::syscall(SYS_capget, &head, rights.data()), 0);
        rights[0].effective &= ~(1U << static_cast<unsigned>(CAP_SYS_ADMIN));
        ASSERT_EQ(::syscall(SYS_capset, &head, rights.data()), 0);
        act();
    })
        .join();
}

TEST_F(Pins, ThoseOfAnAgentThatWasKilledAreReplacedWithoutCapSysAdmin) {
    const TestCgroups cgroups;
    PodProcess killed(cgroups, "", [&](const Line& line) {
        const auto bpf = load_bpf(path);
        line.say(bpf && (*bpf)->rows().back().chosen == path ? 'p' : 'x');
        line.hear();
    });
    ASSERT_EQ(killed.hear(), 'p');
    ::kill(killed.pid(), SIGKILL);
    std::string pins;
    std::string why;
    without_cap_sys_admin([&] {
        const auto bpf = load_bpf(path);
        pins = bpf ? (*bpf)->rows().back().chosen : bpf.error().text();
        why = bpf ? (*bpf)->rows().back().detail : "";
    });
    EXPECT_EQ(pins, path) << why;
    EXPECT_FALSE(fs::exists(path)) << "a clean end removes them";
}

// A map under the name of a program is no link: not to be removed because it cannot be asked for its program.
TEST_F(Pins, WhatIsNoLinkStaysAlsoWithoutCapSysAdmin) {
    fs::create_directory(path);
    fs::create_directory(path + "/links");
    ASSERT_TRUE(pin_map(path + "/links/on_mark_victim", "on_mark_victim", BPF_MAP_TYPE_ARRAY));
    without_cap_sys_admin([&] {
        const auto removed = kernel::remove_left_pins(path);
        ASSERT_TRUE(removed) << removed.error().text();
        EXPECT_EQ(removed->foreign, std::vector<std::string>{"links/on_mark_victim"});
    });
    EXPECT_TRUE(fs::exists(path + "/links/on_mark_victim"));
}

}  // namespace
}  // namespace evictd::kernel_test

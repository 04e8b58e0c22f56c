// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What this kernel takes of our programs, and the pins that people and tools look at.
#include "kernel/programs.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "fakes/temp_dir.hpp"
#include "kernel/bpf_fixture.hpp"
#include "kernel/pins.hpp"

namespace evictd::kernel_test {
namespace {

namespace fs = std::filesystem;

std::string own_pins() { return "/sys/fs/bpf/evictd-test-" + std::to_string(::getpid()); }

std::string bpftool() {
    for (const char* path : {"/usr/sbin/bpftool", "/sbin/bpftool", "/usr/bin/bpftool"}) {
        if (fs::exists(path)) return path;
    }
    return {};
}

std::string output_of(const std::string& command) {
    std::string text;
    FILE* pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> buffer{};
    while (pipe != nullptr && std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr) {
        text += buffer.data();
    }
    EXPECT_EQ(pipe != nullptr ? ::pclose(pipe) : -1, 0) << command;
    return text;
}

TEST(Programs, EveryHookHasAProgramOnThisKernel) {
    const auto choice = kernel::choose_programs();
    ASSERT_TRUE(choice) << choice.error().text();
    std::set<std::string> hooks;
    std::size_t fed = 0;
    for (const auto& row : choice->rows) {
        hooks.insert(row.hook);
        fed += row.chosen.empty() ? 0U : 1U;
        // Whose limit it was can also be concluded, where there are no trampolines.
        EXPECT_TRUE(!row.chosen.empty() || row.hook == "oom_limit") << row.hook << ": " << row.detail;
    }
    for (const auto& candidate : kernel::candidates()) EXPECT_TRUE(hooks.contains(candidate.hook.name));
    std::set<std::pair<std::string, int>> taken;
    for (const auto* chosen : choice->chosen) {
        const bool fresh = taken.insert({chosen->hook.name, chosen->group}).second;
        EXPECT_TRUE(fresh || chosen->group != 0) << chosen->program << " is a second one for " << chosen->hook.name;
    }
    EXPECT_EQ(taken.size(), fed) << "one program, or one group, a hook";
}

TEST(Programs, ThoseChosenLoadAttachAndArePinned) {
    const std::string path = own_pins();
    {
        const auto bpf = load_bpf(path);
        ASSERT_TRUE(bpf) << bpf.error().text();
        for (const char* map :
             {"thresholds", "settings", "drops", "timer", "pods", "sockets", "events", "stall", "stall_lines"}) {
            EXPECT_TRUE(fs::exists(path + "/" + map)) << map;
        }
        const auto choice = kernel::choose_programs();
        for (const auto* chosen : choice->chosen) {
            const bool linked = !chosen->on_demand && (chosen->attach == kernel::Attach::tracepoint ||
                                                       chosen->attach == kernel::Attach::fentry);
            EXPECT_EQ(fs::exists(path + "/links/" + chosen->program), linked) << chosen->program;
        }
        EXPECT_EQ((*bpf)->rows().back().hook, "pins");
        EXPECT_EQ((*bpf)->rows().back().chosen, path);
        EXPECT_TRUE(eventually([&] { return (*bpf)->timer_stats().ticks > 1; })) << "the timer does not tick";
    }
    EXPECT_FALSE(fs::exists(path)) << "pins outlived their agent";
}

TEST(Programs, BpftoolPrintsThePinnedMapsFieldByField) {
    if (bpftool().empty()) GTEST_SKIP() << "no bpftool on this machine";
    const auto bpf = load_bpf(own_pins());
    ASSERT_TRUE(bpf) << bpf.error().text();
    evictd_watermark line{};
    line.threshold = 123456789;
    line.signal = EVICTD_SIGNAL_NODE_MEMORY;
    line.state = EVICTD_WATERMARK_UNKNOWN;
    ASSERT_TRUE((*bpf)->set_thresholds({line}));
    const auto dump = [](const std::string& map) {
        return output_of(bpftool() + " map dump pinned " + own_pins() + "/" + map);
    };
    const auto thresholds = dump("thresholds");
    EXPECT_NE(thresholds.find("\"threshold\": 123456789"), std::string::npos) << thresholds;
    EXPECT_NE(thresholds.find("EVICTD_SIGNAL_NODE_MEMORY"), std::string::npos) << thresholds;
    EXPECT_NE(dump("settings").find("\"pods_root_id\": 0"), std::string::npos);
    EXPECT_NE(dump("drops").find("\"oom_kill\": 0"), std::string::npos);
    EXPECT_NE(dump("timer").find("\"ticks\": "), std::string::npos);
    evictd_pod pod{.uid = "uid-1", .name = "default/web"};
    ASSERT_TRUE((*bpf)->show_pods({{CgroupId{7}, pod}}));
    EXPECT_NE(dump("pods").find("default/web"), std::string::npos);
    EXPECT_NE(dump("stall").find("\"key\": 7"), std::string::npos) << "a pod that is shown is watched";
    EXPECT_NE(dump("stall").find("\"lost_ns\""), std::string::npos);
    ASSERT_TRUE((*bpf)->show_pods({}));
    EXPECT_EQ(dump("pods").find("default/web"), std::string::npos) << "a pod that is gone is still shown";
    EXPECT_EQ(dump("stall").find("\"key\": 7"), std::string::npos) << "a pod that is gone is still watched";
}

// Of 1,000 pods few change from look to look, and an entry takes a microsecond of the real-time thread.
TEST(Programs, APodThatIsShownUnchangedIsNotWrittenAgain) {
    const auto bpf = load_bpf(own_pins());
    ASSERT_TRUE(bpf) << bpf.error().text();
    const std::uint64_t id = 7;
    evictd_pod pod{.uid = "uid-1", .name = "default/web"};
    ASSERT_TRUE((*bpf)->show_pods({{CgroupId{id}, pod}}));
    const sys::Fd map(bpf_obj_get((own_pins() + "/pods").c_str()));
    evictd_pod mark = pod;
    mark.usage = 1;
    ASSERT_EQ(bpf_map_update_elem(map.get(), &id, &mark, BPF_ANY), 0);
    const auto usage = [&] {
        evictd_pod now{};
        EXPECT_EQ(bpf_map_lookup_elem(map.get(), &id, &now), 0);
        return now.usage;
    };
    ASSERT_TRUE((*bpf)->show_pods({{CgroupId{id}, pod}}));
    EXPECT_EQ(usage(), 1U);
    pod.usage = 2;
    ASSERT_TRUE((*bpf)->show_pods({{CgroupId{8}, pod}, {CgroupId{id}, pod}}));
    EXPECT_EQ(usage(), 2U);
}

TEST(Programs, PinsOfALivingAgentAreItsAndThoseOfOneThatDiedAreReplaced) {
    const std::string path = own_pins();
    const TestCgroups cgroups;
    PodProcess other(cgroups, "", [&](const Line& line) {
        const auto bpf = load_bpf(path);
        line.say(bpf && (*bpf)->rows().back().chosen == path ? 'p' : 'x');
        line.hear();
    });
    ASSERT_EQ(other.hear(), 'p');
    {
        const auto second = load_bpf(path);
        ASSERT_TRUE(second) << second.error().text();  // it works without pins
        EXPECT_TRUE((*second)->rows().back().chosen.empty());
        EXPECT_NE((*second)->rows().back().detail.find(std::to_string(other.pid())), std::string::npos);
    }
    EXPECT_TRUE(fs::exists(path + "/thresholds")) << "it removed the other's pins";

    ::kill(other.pid(), SIGKILL);
    ASSERT_TRUE(other.killed_by(SIGKILL));
    ASSERT_TRUE(fs::exists(path + "/thresholds")) << "nothing stale to replace";
    {
        const auto next = load_bpf(path);
        ASSERT_TRUE(next) << next.error().text();
        EXPECT_EQ((*next)->rows().back().chosen, path) << (*next)->rows().back().detail;
    }
    EXPECT_FALSE(fs::exists(path));
}

TEST(Programs, ADirectoryThatIsNoBpfFilesystemIsLeftAsItIs) {
    const fakes::TempDir directory;
    directory.write("precious", "text");
    const auto bpf = load_bpf(directory.path().string());
    ASSERT_TRUE(bpf) << bpf.error().text();  // it works without pins
    EXPECT_EQ((*bpf)->rows().back().hook, "pins");
    EXPECT_TRUE((*bpf)->rows().back().chosen.empty());
    EXPECT_NE((*bpf)->rows().back().detail.find("BPF filesystem"), std::string::npos);
    EXPECT_TRUE(fs::exists(directory / "precious"));
    EXPECT_FALSE(fs::exists(directory / "links")) << "it was littered";
}

TEST(Programs, MoreThresholdsThanFitAreRefused) {
    const auto bpf = load_bpf("");
    ASSERT_TRUE(bpf) << bpf.error().text();
    EXPECT_TRUE((*bpf)->set_thresholds(std::vector<evictd_watermark>(EVICTD_MAX_WATERMARKS)));
    const auto set = (*bpf)->set_thresholds(std::vector<evictd_watermark>(EVICTD_MAX_WATERMARKS + 1));
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().kind, ErrorKind::invalid);
}

}  // namespace
}  // namespace evictd::kernel_test

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Tasks that stall on memory, counted in the kernel: by pod and node, as a union, while it lasts, and against
// the kernel's own pressure files.
#include <array>
#include <csignal>

#include <bpf/bpf.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "fakes/fake_cgroups.hpp"
#include "kernel/bpf_fixture.hpp"
#include "kernel/node_stalls.hpp"
#include "kernel/pressure_files.hpp"
#include "kernel/programs.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"

namespace evictd::kernel_test {
namespace {

using namespace std::chrono_literals;

constexpr const char* reader = "kubepods/burstable/podreader";
constexpr const char* quiet = "kubepods/podquiet";

PodProcess::Body keep_reading(const ColdFile& file) {
    return [&file](const Line& line) {
        line.hear();
        for (;;) read_once(file.path(), 128_MiB);
    };
}

PodProcess::Body on_one_cpu(PodProcess::Body body) {
    return [body = std::move(body)](const Line& line) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0) std::abort();
        body(line);
    };
}

class Stall : public WithBpf {
protected:
    void SetUp() override {
        WithBpf::SetUp();
        ASSERT_NE(bpf_->stalls(), nullptr) << "no program counts stalls on this kernel";
        make_pods_root(std::nullopt);
        cgroups_.make(std::string(reader) + "/container");
        cgroups_.make(quiet);
        cgroups_.limit_memory(reader, 24_MiB);
        ASSERT_TRUE(bpf_->show_pods({{cgroups_.id(reader), {}}, {cgroups_.id(quiet), {}}}));
    }
    [[nodiscard]] PodProcess make_reader() const {
        return PodProcess(cgroups_, std::string(reader) + "/container", keep_reading(file_));
    }
    [[nodiscard]] evictd_stall entry(CgroupId id) const {
        const auto found = bpf_->stalls()->entry(id);
        EXPECT_TRUE(found);
        return found.value_or(evictd_stall{});
    }
    [[nodiscard]] evictd_stall reader_entry() const { return entry(cgroups_.id(reader)); }
    [[nodiscard]] std::optional<PodStall> stall_of(const char* pod) const {
        for (const auto& row : usage()) {
            if (row.id == cgroups_.id(pod)) return row.stall;
        }
        return std::nullopt;
    }

    const ColdFile file_{64_MiB};
};

TEST_F(Stall, APodAtItsLimitLosesTimeAndDoesTheWorkAndItsQuietNeighbourDoesNot) {
    const auto process = make_reader();
    process.say('g');
    EXPECT_TRUE(eventually([&] {
        const auto stall = stall_of(reader);
        return stall && stall->some[1] > 0ms && stall->some[2] >= stall->some[1] && stall->reclaimed > 16_MiB;
    }));
    EXPECT_FALSE(stall_of(quiet));
    const auto node = bpf_->stalls()->node();
    ASSERT_TRUE(node);
    EXPECT_GT((*node)[2], 0ms);
    EXPECT_GE(entry({}).total_ns, reader_entry().total_ns) << "the pod's tasks are the node's too";
}

TEST_F(Stall, WorkAtAPodsOwnLimitIsNotForTheNodeAndWorkAtThePodsLimitIs) {
    {
        const auto process = make_reader();
        process.say('g');
        EXPECT_TRUE(eventually([&] { return reader_entry().reclaimed > (64_MiB).value; }));
        EXPECT_LE(reader_entry().reclaimed_for_node, reader_entry().reclaimed / 20);
    }
    const auto before = reader_entry();
    cgroups_.limit_memory(reader, 1_GiB);
    cgroups_.limit_memory("kubepods", 48_MiB);
    const auto process = make_reader();
    process.say('g');
    EXPECT_TRUE(eventually([&] { return reader_entry().reclaimed > before.reclaimed + (64_MiB).value; }));
    EXPECT_GE(reader_entry().reclaimed_for_node - before.reclaimed_for_node,
              (reader_entry().reclaimed - before.reclaimed) / 2);
}

TEST_F(Stall, SeveralTasksAtOnceLoseNoMoreThanTheTimeThatPasses) {
    const auto begin = now();
    std::vector<PodProcess> processes;
    for (int i = 0; i < 6; i++) processes.push_back(make_reader());
    for (const auto& process : processes) process.say('g');
    EXPECT_TRUE(eventually([&] { return reader_entry().stalls > 300; }));
    EXPECT_LE(Duration(reader_entry().total_ns), now() - begin);
    std::optional<PodStall> stall;
    ASSERT_TRUE(eventually([&] { return (stall = stall_of(reader)).has_value(); })) << "when a slot was closed";
    EXPECT_LE(stall->some[0], 100ms);
    EXPECT_LE(stall->some[1], 1s);
}

TEST_F(Stall, ExitedTasksAreNoLongerCounted) {
    {
        std::vector<PodProcess> processes;
        for (int i = 0; i < 4; i++) processes.push_back(make_reader());
        for (const auto& process : processes) process.say('g');
        EXPECT_TRUE(eventually([&] { return reader_entry().stalls > 100; }));
    }  // killed wherever they are
    EXPECT_EQ(reader_entry().stalling, 0U);
    EXPECT_TRUE(eventually([&] { return !stall_of(reader); })) << "what was lost leaves the longest window";
    EXPECT_TRUE(eventually([&] { return reader_entry().reclaimed_10s == 0; }))
        << "reclaim may go on after the last stall";
}

TEST_F(Stall, ALineIsReportedOnceOnBothItsEdgesForTheNodeAndForThePod) {
    const std::vector<StallLine> lines{{StallScope::node, StallWindow::tenth, 100us},
                                       {StallScope::pod, StallWindow::second, 200us}};
    ASSERT_TRUE(events_->watch_stalls(lines));
    const auto of_pod = [&](bool over) {
        return [this, over](const StallCrossed& stall) {
            return stall.over == over && stall.cgroup == cgroups_.id(reader);
        };
    };
    {
        const auto process = make_reader();
        process.say('g');
        const auto node =
            wait_for<StallCrossed>([](const StallCrossed& s) { return s.over && s.cgroup == CgroupId{}; });
        ASSERT_TRUE(node);
        EXPECT_EQ(std::get<StallCrossed>(node->kind).window, StallWindow::tenth);
        EXPECT_GE(std::get<StallCrossed>(node->kind).lost, 100us);
        EXPECT_LE(node->time, now());
        const auto pod = wait_for<StallCrossed>(of_pod(true));
        ASSERT_TRUE(pod);
        EXPECT_EQ(std::get<StallCrossed>(pod->kind).line, 200us);
        for (const auto& event : pending()) {
            const auto* again = std::get_if<StallCrossed>(&event.kind);
            EXPECT_FALSE(again != nullptr && of_pod(true)(*again)) << "told again while it lasted";
        }
    }
    EXPECT_TRUE(wait_for<StallCrossed>(of_pod(false)));
}

TEST_F(Stall, AStallThatLastsLongerThanAWindowIsSeenWhileItLasts) {
    const auto id = cgroups_.id(quiet);
    const auto since_us = static_cast<std::uint64_t>(now().time_since_epoch() / 1us);
    // One task that began to stall and does not go on: no kernel can be asked for one that surely stalls.
    evictd_stall standing{};
    standing.stalling = (since_us << 16U) + 1;
    auto node = entry({});
    node.stalling = standing.stalling;
    const std::uint64_t node_key = 0;
    ASSERT_EQ(bpf_map_update_elem(bpf_->stalls()->fd(), &id.value, &standing, BPF_EXIST), 0);
    ASSERT_EQ(bpf_map_update_elem(bpf_->stalls()->fd(), &node_key, &node, BPF_EXIST), 0);
    EXPECT_TRUE(eventually([&] {
        const auto stall = stall_of(quiet);
        return stall && stall->some[0] >= 90ms && stall->some[1] >= 900ms && stall->some[2] > stall->some[1];
    }));
    EXPECT_EQ(entry(id).total_ns, 0U) << "it has not ended";
    node = {};
    ASSERT_EQ(bpf_map_update_elem(bpf_->stalls()->fd(), &node_key, &node, BPF_EXIST), 0);
}

// A single task on a single CPU, so that the kernel's weighting by CPU and our union should agree: of one that spends
// half of its time on each of two, the kernel counts half. By tracepoint only reclaim counts, a part of what it counts.
TEST_F(Stall, AgreesWithTheKernelsOwnCountOfTheSameLoad) {
    const std::string directory = hierarchies().v2_mount() + cgroups_.path(reader);
    const auto psi = [&]() -> std::optional<Duration> {
        const auto text = sys::read_file(directory + "/memory.pressure", 4096);
        return text ? kernel::parse_pressure(*text).some : std::nullopt;
    };
    if (!psi()) GTEST_SKIP() << "no memory.pressure in any hierarchy, or no PSI";
    const PodProcess process(cgroups_, std::string(reader) + "/container", on_one_cpu(keep_reading(file_)));
    process.say('g');
    ASSERT_TRUE(eventually([&] { return Duration(reader_entry().total_ns) > 300ms; }));
    const auto ours = Duration(reader_entry().total_ns);
    const auto theirs = *psi();
    const double ratio = static_cast<double>(ours.count()) / static_cast<double>(theirs.count());
    std::cout << "lost by our count " << ours / 1us << " us, by memory.pressure " << theirs / 1us << " us, ratio "
              << ratio << '\n';
    EXPECT_GT(ratio, 0.5);
    EXPECT_LT(ratio, 2.0);
}

// Of a pod with one task there is no time in which one stands still and another does not.
TEST_F(Stall, FullOfAPodMatchesItsPressureFile) {
    const sys::SystemClock clock;
    kernel::NodeStalls stalls(bpf_->stalls(), hierarchies().v2_mount(), clock);
    const StallThreshold threshold{.kind = StallKind::full, .scope = StallScope::pod, .share = 1};
    stalls.want({.stalls = {threshold}});
    if (!stalls.uncounted().empty()) GTEST_SKIP() << "no memory.pressure in any hierarchy, or no PSI";
    const fakes::FakePodCgroup loud{cgroups_.id(reader), cgroups_.path(reader)};
    const fakes::FakePodCgroup still{cgroups_.id(quiet), cgroups_.path(quiet)};
    std::optional<PodStall> loud_stall;
    std::optional<PodStall> still_stall;
    const std::array pods{port::StalledPod{loud, loud_stall}, port::StalledPod{still, still_stall}};
    const PodProcess process(cgroups_, std::string(reader) + "/container", on_one_cpu(keep_reading(file_)));
    process.say('g');
    ASSERT_TRUE(eventually([&] {
        loud_stall = stall_of(reader);
        still_stall = stall_of(quiet);
        stalls.read_pods(/*latency_critical=*/false, pods);
        return loud_stall && loud_stall->full && (*loud_stall->full)[1] > 20ms && loud_stall->reclaimed > 0_MiB;
    }));
    EXPECT_LE((*loud_stall->full)[1], 1s);
    EXPECT_FALSE(still_stall);
    const auto text = sys::read_file(hierarchies().v2_mount() + cgroups_.path(reader) + "/memory.pressure", 4096);
    ASSERT_TRUE(text);
    EXPECT_LE((*loud_stall->full)[2], kernel::parse_pressure(*text).full.value());
}

}  // namespace
}  // namespace evictd::kernel_test

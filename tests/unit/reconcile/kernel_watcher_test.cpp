// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/kernel_watcher.hpp"

#include <chrono>

#include <gmock/gmock.h>

namespace evictd::reconcile {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

struct Kernel final : port::KernelEventSource {
    Status watch(std::span<const Watermark> lines) override {
        watches++;
        if (refuses) return fail(ErrorKind::failed, "bpf", "Operation not permitted");
        watched.assign(lines.begin(), lines.end());
        return {};
    }
    Status count_memory(MemoryAvailable how) override {
        counts.push_back(how);
        return refuses ? fail(ErrorKind::failed, "bpf", "Operation not permitted") : Status{};
    }
    Status watch_stalls(std::span<const StallLine> lines) override {
        stalls.push_back(lines.size());
        return refuses ? fail(ErrorKind::failed, "bpf", "Operation not permitted") : Status{};
    }
    Status follow(const std::optional<port::PodsRoot>& /*root*/) override { return {}; }
    Status show_pods(std::span<const port::ShownPod> pods) override {
        ranks.clear();
        for (const auto& pod : pods) ranks.emplace_back(pod.observed->cgroup.value, pod.victim_rank);
        return {};
    }
    [[nodiscard]] int fd() const override { return -1; }
    void drain(const Sink& /*sink*/) override {}
    [[nodiscard]] bool tells_of_pods() const override { return true; }
    Status watch_exits(bool on) override {
        exits.push_back(on);
        return refuses ? fail(ErrorKind::failed, "bpf", "Operation not permitted") : Status{};
    }
    [[nodiscard]] std::optional<TimedLooks> timed_looks() const override { return std::nullopt; }
    [[nodiscard]] std::vector<SourceRow> sources() const override { return {}; }

    bool refuses = false;
    int watches = 0;
    std::vector<Watermark> watched;
    std::vector<MemoryAvailable> counts;
    std::vector<std::size_t> stalls;
    std::vector<bool> exits;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> ranks;
};

constexpr Watermark line{Signal::memory_available, 100_MiB};
constexpr Watermark above{Signal::memory_available, 164_MiB};
constexpr MonotonicTime begin{1h};
constexpr auto memory = static_cast<std::size_t>(Signal::memory_available);

KernelWatch desired() { return {.lines = std::vector{line}, .approaches = {above}, .stall_lines = {}}; }

struct KernelWatchers : testing::Test {
    Kernel kernel;
    KernelWatcher watcher{kernel};
};

TEST_F(KernelWatchers, WhatIsAsWantedIsNotWrittenAgain) {
    for (int i = 0; i < 3; i++) {
        watcher.reconcile(desired(), begin);
        EXPECT_FALSE(watcher.watches_exits());
    }
    EXPECT_THAT(kernel.watched, ElementsAre(line, above));
    EXPECT_EQ(kernel.watches, 1);
    EXPECT_EQ(kernel.counts.size(), 1U);
    EXPECT_EQ(kernel.stalls.size(), 1U);
    EXPECT_THAT(kernel.exits, IsEmpty());
}

TEST_F(KernelWatchers, WhatIsRefusedIsTriedAgain) {
    kernel.refuses = true;
    watcher.reconcile(desired(), begin);
    EXPECT_THAT(watcher.lines(), IsEmpty());
    kernel.refuses = false;
    watcher.reconcile(desired(), begin);
    EXPECT_THAT(watcher.lines(), ElementsAre(line));
    EXPECT_EQ(kernel.counts.size(), 2U);
    EXPECT_EQ(kernel.stalls.size(), 2U);
}

TEST_F(KernelWatchers, LinesThatAreNotKnownStay) {
    watcher.reconcile(desired(), begin);
    watcher.reconcile({}, begin);
    EXPECT_THAT(watcher.lines(), ElementsAre(line));
    EXPECT_EQ(kernel.watches, 1);
}

TEST_F(KernelWatchers, ExitsLingerSoThatANodeThatFlapsDoesNotAttachAllTheTime) {
    auto near = desired();
    near.exits = true;
    watcher.reconcile(near, begin);
    EXPECT_TRUE(watcher.watches_exits());
    watcher.reconcile(near, begin + 1s);
    EXPECT_THAT(kernel.exits, ElementsAre(true)) << "they are told already";
    watcher.reconcile(desired(), begin + 10s);
    EXPECT_THAT(kernel.exits, ElementsAre(true));
    watcher.reconcile(desired(), begin + 11s);
    EXPECT_THAT(kernel.exits, ElementsAre(true, false));
    EXPECT_FALSE(watcher.watches_exits());
}

TEST_F(KernelWatchers, ACrossingIsOfALineOrTheApproachToOne) {
    watcher.reconcile(desired(), begin);
    const auto crossed = [](const Watermark& which, bool under) {
        return WatermarkCrossed{which.signal, under, which.threshold, 90_MiB};
    };
    EXPECT_EQ(watcher.note(crossed(above, true)), Crossing::approach);
    EXPECT_EQ(watcher.note(crossed(above, false)), Crossing::other);
    EXPECT_EQ(watcher.note(crossed(line, true)), Crossing::line);
    EXPECT_EQ(watcher.note(crossed(line, true)), Crossing::line);
    EXPECT_EQ(watcher.lowest_crossed()[memory], line.threshold);
    EXPECT_EQ(watcher.note(crossed(line, false)), Crossing::line);
    EXPECT_EQ(watcher.lowest_crossed()[memory], std::nullopt);
}

TEST_F(KernelWatchers, OfSeveralCrossedLinesTheLowestCounts) {
    auto two = desired();
    two.lines->push_back({line.signal, 80_MiB});
    watcher.reconcile(two, begin);
    (void)watcher.note({line.signal, true, line.threshold, 90_MiB});
    EXPECT_EQ(watcher.lowest_crossed()[memory], line.threshold);
    (void)watcher.note({line.signal, true, 80_MiB, 70_MiB});
    EXPECT_EQ(watcher.lowest_crossed()[memory], 80_MiB);
    (void)watcher.note({line.signal, false, 80_MiB, 90_MiB});
    EXPECT_EQ(watcher.lowest_crossed()[memory], line.threshold);
}

TEST_F(KernelWatchers, NewLinesAreWrittenAgain) {
    watcher.reconcile(desired(), begin);
    (void)watcher.note({line.signal, true, line.threshold, 90_MiB});
    auto moved = desired();
    moved.lines->front().threshold = 120_MiB;
    watcher.reconcile(moved, begin);
    EXPECT_EQ(watcher.lowest_crossed()[memory], std::nullopt);
}

TEST_F(KernelWatchers, EveryPodWithACgroupIsShownAndThoseThatMayBeEvictedAreNumbered) {
    Observation observation;
    for (const std::uint64_t cgroup : {10UL, 0UL, 30UL, 40UL}) {
        observation.pods.emplace_back();
        observation.pods.back().cgroup = {cgroup};
    }
    const std::vector<RankedPod> ranking{
        {.pod = 3}, {.pod = 1}, {.pod = 2, .exemption = Exemption::critical}, {.pod = 0}};
    watcher.show_pods(observation, ranking);
    EXPECT_THAT(kernel.ranks, ElementsAre(std::pair(40U, 1U), std::pair(30U, 0U), std::pair(10U, 3U)));
    watcher.show_pods({}, {});
    EXPECT_THAT(kernel.ranks, IsEmpty());
}

}  // namespace
}  // namespace evictd::reconcile

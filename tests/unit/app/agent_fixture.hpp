// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An agent over fakes: two pods, "quiet" and "hog", under a limit of 1 GiB of which 200 MiB shall be left.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "app/agent.hpp"
#include "fakes/fake_cgroups.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/fake_node.hpp"
#include "fakes/fake_sockets.hpp"
#include "sys/fd.hpp"

namespace evictd::app {

struct FakeEvents final : port::KernelEventSource {
    Status watch(std::span<const Watermark> lines) override {
        watermarks.assign(lines.begin(), lines.end());
        ++watches;
        if (on_watch) on_watch();
        return {};
    }
    Status follow(const std::optional<port::PodsRoot>& root) override {
        followed = root;
        return {};
    }
    [[nodiscard]] int fd() const override { return ready.get(); }
    bool await(MonotonicTime until) override {
        awaited.push_back(until);
        if (on_await) on_await();
        return !pending.empty();
    }
    void drain(const Sink& sink) override {
        std::uint64_t count = 0;
        (void)!::read(ready.get(), &count, sizeof(count));
        for (const auto& event : std::exchange(pending, {})) sink(event);
    }
    [[nodiscard]] bool tells_of_pods() const override { return tells; }
    Status watch_exits(bool on) override {
        exits.push_back(on);
        return {};
    }
    Status count_memory(MemoryAvailable how) override {
        counted = how;
        return {};
    }
    [[nodiscard]] std::optional<TimedLooks> timed_looks() const override {
        return timed ? std::optional(TimedLooks{*timed, *timed, 1_GiB}) : std::nullopt;
    }
    [[nodiscard]] std::vector<SourceRow> sources() const override { return {}; }

    void tell(KernelEventKind kind, MonotonicTime time) {
        pending.push_back({time, std::move(kind)});
        const std::uint64_t one = 1;
        (void)!::write(ready.get(), &one, sizeof(one));
    }

    sys::Fd ready{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    std::vector<KernelEvent> pending;
    std::optional<Duration> timed;  // none: every crossing is told
    std::vector<Watermark> watermarks;
    int watches = 0;
    std::function<void()> on_watch;
    std::vector<MonotonicTime> awaited;
    std::function<void()> on_await;
    bool tells = true;
    std::vector<bool> exits;
    std::optional<MemoryAvailable> counted;
    std::optional<port::PodsRoot> followed;
};

// What the reconcilers with threads of their own were told.
struct FakeScores {
    void want(const reconcile::DesiredScores& desired, reconcile::Urgency urgency) {
        urgent += urgency == reconcile::Urgency::at_once ? 1 : 0;
        if (desired.pods != last.pods) {
            looked_at = desired.pods->pods.size();
            node_memory = desired.pods->node_memory;
            ++looks;
        }
        if (desired.steer_to != last.steer_to) steered.push_back(desired.steer_to ? desired.steer_to->value : "");
        last = desired;
    }
    reconcile::DesiredScores last;
    std::size_t looked_at = 0;
    Bytes node_memory;
    int looks = 0;
    int urgent = 0;
    std::vector<std::string> expected, checked, steered;
};

struct FakePids final : port::NodePids {
    Result<port::NodePidsReading> read() override {
        ++reads;
        if (broken) return fail(ErrorKind::failed, "/proc/loadavg", "broken");
        const auto counted = reading;
        if (after_read) after_read();
        return counted;
    }
    bool broken = false;
    std::function<void()> after_read;
    port::NodePidsReading reading{.most = 32'768, .running = 500};
    int reads = 0;
};

struct FakeRungs {
    std::vector<reconcile::DesiredRungs> said;
};

struct NoReaper final : act::AfterKill {
    void follow(port::PodCgroupPtr, bool) override { ++followed; }
    void finish_terminating(port::PodCgroupPtr) override {}
    void drop_cache(port::PodCgroupPtr victim) override { (void)victim->drop_cache(); }
    int followed = 0;
};

inline PodPtr pod(const std::string& uid) {
    Pod made;
    made.uid = {uid};
    made.name_space = "default";
    made.name = uid;
    made.phase = PodPhase::running;
    return make_pod(std::move(made));
}

constexpr std::uint64_t root_id = 1, quiet_id = 2, hog_id = 3;

struct Agents : testing::Test {
    void make(bool dry_run = false, bool taped = false) {
        // The loop's timers run on the real clock: a time far ahead keeps them quiet.
        clock.set(MonotonicTime{std::chrono::hours(1'000'000)});
        executor.emplace(clock, reaper, dry_run);
        shed.emplace(clock, &sockets, dry_run);
        agent.emplace(
            AgentParts{.loop = loop,
                       .clock = clock,
                       .events = events,
                       .cgroups = tree,
                       .observer = observer,
                       .executor = *executor,
                       .socket_shed = *shed,
                       .publish = [this](RecordPtr record) { records.push_back(std::move(record)); },
                       .claim_root = [this](const port::PodsRoot&) { return claim; },
                       .want_rungs = [this](const auto& desired) { rungs.said.push_back(desired); },
                       .want_scores = [this](const auto& desired, auto urgency) { scores.want(desired, urgency); },
                       .expect_scores = [this](const auto& kept) { scores.expected.push_back(kept.pod->name); },
                       .check_scores = [this](const PodUid& uid) { scores.checked.push_back(uid.value); },
                       .want_pod_statuses = [this](const auto& desired) { statuses.push_back(desired); },
                       .disks = disks,
                       .pids = &pids,
                       .note_intent =
                           [this](const DesiredPodStatus& intent) {
                               intents.emplace_back(intent, tree.handle(hog_id)->kills);
                           }},
            AgentOptions{.eviction = eviction,
                         .dry_run = dry_run,
                         .record = taped,
                         .score_period = score_period,
                         .pod_sources = pod_sources});
        agent->recall(recalled);
        ASSERT_TRUE(agent->start());
        set_pods({.pods = {pod("quiet"), pod("hog")}, .rejected = {}});
    }
    void set_pods(port::PodSet set) {
        agent->set_pods(0, std::move(set));
        turn();  // the look
        turn();  // and nothing else waits
    }
    void declare(Bytes hog) {
        tree.declare({{.id = root_id, .level = 1, .usage = hog + 100_MiB, .limit = 1_GiB},
                      {.id = quiet_id, .level = 2, .usage = 100_MiB, .processes = 1, .pod = "quiet"},
                      {.id = hog_id, .level = 2, .usage = hog, .processes = 1, .pod = "hog"}});
    }
    void turn() { ASSERT_TRUE(loop.run_once(std::chrono::milliseconds(0))); }
    void cross(Bytes available, bool under = true) {
        clock.advance(std::chrono::milliseconds(1));
        events.tell(WatermarkCrossed{Signal::allocatable_memory_available, under, 200_MiB, available},
                    clock.monotonic());
        turn();
    }
    [[nodiscard]] const Tick& last() const { return std::get<Tick>(*records.back()); }

    fakes::FakeClock clock;
    sys::Loop loop = std::move(*sys::Loop::make());
    FakeEvents events;
    fakes::FakeCgroupTree tree;
    fakes::FakeNode node;
    NoReaper reaper;
    FakeScores scores;
    FakeRungs rungs;
    std::vector<std::vector<DesiredPodStatus>> statuses;
    std::vector<std::pair<DesiredPodStatus, int>> intents;  // with the hog's kills until then
    std::vector<DesiredPodStatus> recalled;
    DiskParts disks;
    FakePids pids;
    observe::Observer observer{tree, node, clock};
    std::optional<act::Executor> executor;
    fakes::FakeSockets sockets;
    std::optional<reconcile::SocketShed> shed;
    Status claim;
    EvictionConfig eviction{.thresholds = {{.signal = Signal::allocatable_memory_available,
                                            .value = {Quantity::of((200_MiB).value)},
                                            .min_reclaim = ThresholdValue{Quantity::of((50_MiB).value)}}}};
    std::vector<RecordPtr> records;
    std::size_t pod_sources = 0;
    Duration score_period{};
    std::optional<Agent> agent;
};

}  // namespace evictd::app

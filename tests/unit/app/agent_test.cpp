// SPDX-License-Identifier: Apache-2.0
// The agent's one function over fakes: what makes it look, what it does, when it looks again.
#include "app/agent.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fakes/fake_cgroups.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/fake_sockets.hpp"
#include "policy/decide.hpp"
#include "sys/fd.hpp"

namespace evictd::app {
namespace {

struct FakeEvents final : port::KernelEventSource {
    Status watch(std::span<const port::Watermark> lines) override {
        watermarks.assign(lines.begin(), lines.end());
        ++watches;
        return {};
    }
    Status follow(const std::optional<port::PodsRoot>& root) override {
        followed = root;
        return {};
    }
    [[nodiscard]] int fd() const override { return ready.get(); }
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
    [[nodiscard]] std::optional<Duration> look_within(Bytes) const override { return std::nullopt; }
    [[nodiscard]] std::vector<SourceRow> sources() const override { return {}; }

    void tell(KernelEventKind kind, MonotonicTime time) {
        pending.push_back({time, std::move(kind)});
        const std::uint64_t one = 1;
        (void)!::write(ready.get(), &one, sizeof(one));
    }

    sys::Fd ready{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    std::vector<KernelEvent> pending;
    std::vector<port::Watermark> watermarks;
    int watches = 0;
    bool tells = true;
    std::vector<bool> exits;
    std::optional<MemoryAvailable> counted;
    std::optional<port::PodsRoot> followed;
};

struct FakeNode final : port::NodeMemory {
    Result<port::NodeMemoryReading> read(bool) override {
        return port::NodeMemoryReading{.total = 8_GiB, .available = 4_GiB};
    }
};

struct FakeScoreOrders final : act::ScoreOrders {
    void look(std::vector<act::KeptPod> pods, Bytes memory) override {
        looked_at = pods.size();
        node_memory = memory;
        ++looks;
    }
    void expect(act::KeptPod pod) override { expected.push_back(pod.pod->name); }
    void check(PodUid pod) override { checked.push_back(pod.value); }
    void steer(std::optional<PodUid> first) override { steered.push_back(first ? first->value : ""); }
    std::size_t looked_at = 0;
    Bytes node_memory;
    int looks = 0;
    std::vector<std::string> expected, checked, steered;
};

struct FakeRungOrders final : act::RungOrders {
    void want(std::vector<act::WantedRung> wanted) override { said.push_back(std::move(wanted)); }
    std::vector<std::vector<act::WantedRung>> said;
};

struct NoReaper final : act::AfterKill {
    void follow(port::PodCgroupPtr) override { ++followed; }
    int followed = 0;
};

PodPtr pod(const std::string& uid) {
    Pod made;
    made.uid = {uid};
    made.name_space = "default";
    made.name = uid;
    made.phase = PodPhase::running;
    return std::make_shared<const Pod>(std::move(made));
}

constexpr std::uint64_t root_id = 1, quiet_id = 2, hog_id = 3;

struct Agents : testing::Test {
    void make(bool dry_run = false, bool taped = false) {
        // The loop's timers run on the real clock: a time far ahead keeps them quiet.
        clock.set(MonotonicTime{std::chrono::hours(1'000'000)});
        executor.emplace(clock, reaper, dry_run);
        shed.emplace(clock, &sockets, dry_run);
        agent.emplace(Parts{.loop = loop,
                            .clock = clock,
                            .events = events,
                            .cgroups = tree,
                            .observer = observer,
                            .executor = *executor,
                            .socket_shed = *shed,
                            .publish = [this](RecordPtr record) { records.push_back(std::move(record)); },
                            .claim_root = [this](const port::PodsRoot&) { return claim; },
                            .scores = &scores,
                            .rungs = &rungs},
                      AgentOptions{.eviction = eviction, .dry_run = dry_run, .record = taped});
        ASSERT_TRUE(agent->start());
        agent->set_pods(0, {.pods = {pod("quiet"), pod("hog")}, .rejected = {}});
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
    FakeNode node;
    NoReaper reaper;
    FakeScoreOrders scores;
    FakeRungOrders rungs;
    observe::Observer observer{tree, node, clock};
    std::optional<act::Executor> executor;
    fakes::FakeSockets sockets;
    std::optional<act::SocketShed> shed;
    Status claim;
    EvictionConfig eviction{.thresholds = {{.signal = Signal::allocatable_memory_available,
                                            .value = {Quantity::of((200_MiB).value)},
                                            .min_reclaim = ThresholdValue{Quantity::of((50_MiB).value)}}}};
    std::vector<RecordPtr> records;
    std::optional<Agent> agent;
};

TEST_F(Agents, WatchesTheValueAndTheValuePlusMinimumReclaim) {
    declare(100_MiB);
    make();
    ASSERT_EQ(events.watermarks.size(), 4U);
    EXPECT_EQ(events.watermarks[0].threshold, 200_MiB);
    EXPECT_EQ(events.watermarks[1].threshold, 250_MiB);
    EXPECT_EQ(events.watermarks[2].threshold, 264_MiB) << "where it gets ready";
    EXPECT_EQ(events.watermarks[3].threshold, 314_MiB);
    EXPECT_EQ(events.watches, 1) << "the same lines are not set again with every look";
}

TEST_F(Agents, ACrossingKillsTheOneRankedPodAtOnce) {
    declare(100_MiB);
    make();
    declare(800_MiB);
    cross(124_MiB);
    EXPECT_EQ(tree.handle(hog_id)->kills, 1);
    EXPECT_EQ(tree.handle(quiet_id)->kills, 0);
    ASSERT_TRUE(last().decision.evict);
    EXPECT_EQ(last().outcomes.at(0).method, "cgroup.kill");
    EXPECT_TRUE(std::holds_alternative<WatermarkCrossed>(last().observation.cause.event->kind));
    EXPECT_EQ(reaper.followed, 1);
}

TEST_F(Agents, ActivePageCacheEvictsNobodyWhereMemoryIsCountedAsReclaimableAndTheKernelIsToldHow) {
    eviction.memory_available = MemoryAvailable::reclaimable;
    make();
    tree.declare({{.id = root_id, .level = 1, .usage = 900_MiB, .limit = 1_GiB, .active_file = 800_MiB},
                  {.id = hog_id, .level = 2, .usage = 900_MiB, .processes = 1, .pod = "hog"}});
    EXPECT_EQ(events.counted, MemoryAvailable::reclaimable);
    cross(124_MiB);
    EXPECT_EQ(tree.handle(hog_id)->kills, 0);
    EXPECT_FALSE(last().decision.evict);
    eviction.memory_available = MemoryAvailable::kubelet;
    agent->set_config(eviction, std::chrono::seconds(10));
    EXPECT_EQ(events.counted, MemoryAvailable::kubelet);
    EXPECT_EQ(tree.handle(hog_id)->kills, 1);
}

TEST_F(Agents, WithATapeEveryLookSaysWhatItWasDecidedOver) {
    declare(100_MiB);
    make(false, true);
    declare(800_MiB);
    cross(124_MiB);
    cross(124_MiB);
    const auto tick = [&](std::size_t from_end) { return std::get<Tick>(*records.at(records.size() - from_end)); };
    EXPECT_EQ(tick(1).number, tick(2).number + 1);
    EXPECT_TRUE(tick(2).before->in_flight.empty());
    EXPECT_EQ(tick(1).before->in_flight.size(), 1U);
    EXPECT_EQ(tick(1).config, tick(2).config);
    const auto state = policy::decide(*tick(2).config, tick(2).observation, *tick(2).before).state;
    EXPECT_EQ(state.first_observed.at(0).at, tick(1).before->first_observed.at(0).at);
    agent->set_config(eviction, std::chrono::seconds(10));
    EXPECT_NE(last().config, tick(2).config);
}

TEST_F(Agents, WithoutATapeNothingIsKeptForOne) {
    declare(100_MiB);
    make();
    EXPECT_EQ(last().number, 0U);
    EXPECT_FALSE(last().config || last().before);
}

TEST_F(Agents, OneVictimAtATimeUntilItsLastProcessIsGone) {
    declare(100_MiB);
    make();
    declare(800_MiB);
    cross(124_MiB);
    cross(120_MiB);
    EXPECT_EQ(tree.handle(hog_id)->kills, 1);
    EXPECT_EQ(tree.handle(quiet_id)->kills, 0);
}

TEST_F(Agents, TheVictimsLastProcessIsNoticedByItsEvent) {
    declare(100_MiB);
    make();
    declare(800_MiB);
    cross(124_MiB);
    declare(0_MiB);
    tree.line(hog_id).processes = 0;
    clock.advance(std::chrono::milliseconds(3));
    const auto gone_at = clock.monotonic();
    events.tell(CgroupLife{CgroupChange::emptied, {hog_id}, "/kubepods/podhog"}, gone_at);
    turn();
    ASSERT_EQ(last().decision.finished.size(), 1U);
    EXPECT_EQ(last().decision.finished[0].emptied_at, gone_at);
}

TEST_F(Agents, DryRunTouchesNothing) {
    declare(100_MiB);
    make(true);
    declare(800_MiB);
    cross(124_MiB);
    EXPECT_EQ(tree.handle(hog_id)->kills, 0);
    EXPECT_EQ(last().outcomes.at(0).status, OutcomeStatus::dry_run);
}

TEST_F(Agents, WhileMemoryIsShortTheFirstInOrderGetsNoSocketsAndThenItDoes) {
    eviction.thresholds[0].grace_period = std::chrono::seconds(30);
    eviction.shed_sockets = true;
    declare(100_MiB);
    make();
    EXPECT_TRUE(sockets.refused_now.empty());
    declare(800_MiB);
    cross(124_MiB);
    EXPECT_EQ(sockets.refused_now, std::vector{CgroupId{hog_id}});
    ASSERT_EQ(last().shed.size(), 1U);
    EXPECT_TRUE(last().shed[0].begun);
    EXPECT_EQ(tree.handle(hog_id)->kills, 0);
    declare(100_MiB);
    cross(824_MiB, false);
    EXPECT_TRUE(sockets.refused_now.empty());
    ASSERT_EQ(last().shed.size(), 1U);
    EXPECT_FALSE(last().shed[0].begun);
}

TEST_F(Agents, ADryRunShedsNobody) {
    eviction.thresholds[0].grace_period = std::chrono::seconds(30);
    eviction.shed_sockets = true;
    declare(100_MiB);
    make(true);
    declare(800_MiB);
    cross(124_MiB);
    EXPECT_EQ(last().shed.size(), 1U);
    EXPECT_EQ(sockets.asked, 0);
}

TEST_F(Agents, APodRemadeUnderItsNameIsNotTouched) {
    declare(100_MiB);
    make();
    declare(800_MiB);
    tree.handle(hog_id)->removed = true;
    cross(124_MiB);
    EXPECT_EQ(last().outcomes.at(0).status, OutcomeStatus::vanished);
    EXPECT_EQ(tree.handle(hog_id)->kills, 0);
}

TEST_F(Agents, AContainerAtItsOwnLimitIsNoReasonToLook) {
    declare(100_MiB);
    make();
    const auto before = records.size();
    events.tell(MemcgBreach{MemcgLimit::max, {hog_id}, 1_MiB, 1_MiB}, clock.monotonic());
    turn();
    EXPECT_EQ(records.size(), before);
}

TEST_F(Agents, LostEventsArePublished) {
    declare(100_MiB);
    make();
    events.tell(EventsLost{"ring buffer full", 3}, clock.monotonic());
    turn();
    ASSERT_EQ(last().kernel_events.size(), 1U);
    EXPECT_EQ(std::get<EventsLost>(last().kernel_events[0].kind).count, 3U);
}

TEST_F(Agents, AnOomKillIsToldWhateverStormOfCgroupsCameBefore) {
    declare(100_MiB);
    make();
    for (int i = 0; i < 1000; ++i) {
        events.tell(CgroupLife{CgroupChange::made, {1000}, "/kubepods/other"}, clock.monotonic());
    }
    events.tell(OomKill{.pid = 7}, clock.monotonic());
    turn();
    ASSERT_EQ(last().kernel_events.size(), 1U);
    EXPECT_EQ(std::get<OomKill>(last().kernel_events[0].kind).pid, 7);
}

TEST_F(Agents, LostEventsMakeItListTheCgroupsAfresh) {
    declare(100_MiB);
    make();
    tree.declare({{.id = root_id, .level = 1, .usage = 100_MiB, .limit = 1_GiB},
                  {.id = 9, .level = 2, .usage = 7_MiB, .processes = 1, .pod = "quiet"}});
    events.tell(EventsLost{"cgroup: ring buffer full", 3}, clock.monotonic());
    turn();
    EXPECT_EQ(last().observation.pods.at(1).cgroup.value, 9U);
}

TEST_F(Agents, LooksAgainAtOnceWhenTheKernelSawACrossingThatIsOverAlready) {
    declare(100_MiB);
    make();
    cross(199_MiB);  // and by the time of our look 824Mi are available again
    EXPECT_EQ(agent->next_look() - clock.monotonic(), std::chrono::milliseconds(5));
    cross(300_MiB, false);
    EXPECT_EQ(agent->next_look() - clock.monotonic(), std::chrono::seconds(10));
}

TEST_F(Agents, DoesNotHurryWhereOnlyTheMinimumReclaimIsMissing) {
    declare(700_MiB);  // 224Mi are available: above the threshold, below the threshold plus minimum reclaim
    make();
    events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 250_MiB, 224_MiB}, clock.monotonic());
    turn();
    EXPECT_EQ(agent->next_look() - clock.monotonic(), std::chrono::seconds(10));
}

TEST_F(Agents, APodsCgroupMadeLaterIsFollowed) {
    make();
    EXPECT_FALSE(events.followed);
    declare(100_MiB);
    events.tell(CgroupLife{CgroupChange::made, {root_id}, "/kubepods"}, clock.monotonic());
    turn();
    ASSERT_TRUE(events.followed);
    EXPECT_EQ(events.followed->id.value, root_id);
    clock.advance(std::chrono::seconds(1));
    agent->request_look();
    EXPECT_TRUE(last().observation.pods.at(0).usage);
}

TEST_F(Agents, TheApproachToALineIsPractisedAndNothingIsToldOrTouched) {
    declare(100_MiB);
    make();
    const auto looks = records.size();
    tree.line(hog_id).usage = 700_MiB;
    tree.line(root_id).usage = 800_MiB;
    events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 240_MiB}, clock.monotonic());
    turn();
    EXPECT_EQ(records.size(), looks);
    EXPECT_EQ(tree.handle(hog_id)->kills, 0);
    EXPECT_EQ(tree.handle(hog_id)->listings, 2) << "once when the pods became known, once now";
}

TEST_F(Agents, OnTheApproachCacheIsAskedForAndWhatCameOfItIsPartOfTheNextLook) {
    declare(100_MiB);
    make();
    const auto before = records.size();
    tree.line(hog_id).usage = 670_MiB;
    tree.line(hog_id).active_file = 100_MiB;
    tree.line(root_id).usage = 770_MiB;
    clock.advance(std::chrono::milliseconds(1));
    events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 254_MiB}, clock.monotonic());
    turn();
    ASSERT_EQ(rungs.said.size(), 1U);
    ASSERT_EQ(rungs.said[0].size(), 1U);
    const Rung rung = rungs.said[0][0].rung;
    EXPECT_EQ(rung.pod, PodUid{"hog"});
    EXPECT_EQ(rung.bytes, 16_MiB) << "10 MiB are missing, and less than 16 is not asked for";
    EXPECT_EQ(rungs.said[0][0].cgroup, tree.handle(hog_id));
    EXPECT_EQ(records.size(), before + 1) << "what is asked for is decided, told and recorded";
    EXPECT_EQ(tree.handle(hog_id)->kills, 0);

    agent->note_rung(
        {.rung = rung, .status = RungStatus::ended, .at = clock.monotonic(), .bytes = 16_MiB, .error = {}});
    ASSERT_EQ(last().observation.rungs.size(), 1U);
    EXPECT_TRUE(last().decision.ladder.empty());
    ASSERT_EQ(rungs.said.size(), 2U);
    EXPECT_TRUE(rungs.said[1].empty());
}

TEST_F(Agents, ExitsAreToldFromTheApproachUntilSomeTimeAfterIt) {
    declare(100_MiB);
    make();
    EXPECT_TRUE(events.exits.empty());
    tree.line(hog_id).usage = 700_MiB;
    tree.line(root_id).usage = 800_MiB;
    events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 240_MiB}, clock.monotonic());
    turn();
    EXPECT_EQ(events.exits, std::vector{true});
    tree.line(hog_id).usage = 100_MiB;
    tree.line(root_id).usage = 200_MiB;
    for (const auto& [seconds, asked] : {std::pair{5, 1U}, {6, 2U}, {60, 2U}}) {
        clock.advance(std::chrono::seconds(seconds));
        agent->request_look();
        EXPECT_EQ(events.exits.size(), asked) << seconds;
    }
    EXPECT_FALSE(events.exits.back());
}

TEST_F(Agents, WhereNoApproachWasSeenItLooksSoonAfterAskingForExits) {
    declare(100_MiB);
    make();
    declare(800_MiB);
    cross(124_MiB);
    EXPECT_EQ(events.exits, std::vector{true});
    EXPECT_LE(agent->next_look() - clock.monotonic(), std::chrono::milliseconds(5)) << "it may have ended before";
    EXPECT_EQ(tree.handle(hog_id)->kills, 1);
}

TEST_F(Agents, WhereNobodyTellsOfPodsEachTimedLookListsThem) {
    declare(100_MiB);
    events.tells = false;
    make();
    tree.declare({{.id = root_id, .level = 1, .usage = 100_MiB, .limit = 1_GiB},
                  {.id = quiet_id, .level = 2, .usage = 100_MiB, .processes = 1, .pod = "quiet"}});
    clock.set(MonotonicTime{});  // the timer is due at once
    agent->set_config(eviction, Duration::zero());
    ASSERT_TRUE(loop.run_once(std::chrono::seconds(5)));
    const auto& pods = last().observation.pods;
    EXPECT_EQ(std::count_if(pods.begin(), pods.end(), [](const auto& pod) { return pod.cgroup.value != 0; }), 1);
}

TEST_F(Agents, WhoAsksRightAfterALookGetsTheNextOneSoon) {
    declare(100_MiB);
    make();
    const auto looks = records.size();
    agent->request_look();
    EXPECT_EQ(records.size(), looks) << "a reader in a loop must not keep the agent looking";
    EXPECT_EQ(agent->next_look() - clock.monotonic(), std::chrono::milliseconds(20));
}

TEST_F(Agents, ARemovedPodsCgroupIsLookedForAgain) {
    declare(100_MiB);
    make();
    tree.declare({});
    events.tell(CgroupLife{CgroupChange::removed, {root_id}, "/kubepods"}, clock.monotonic());
    turn();
    EXPECT_FALSE(events.followed);
    EXPECT_FALSE(last().observation.readings[static_cast<std::size_t>(Signal::allocatable_memory_available)]);
}

TEST_F(Agents, AnotherAgentsPodsAreNotTouched) {
    declare(100_MiB);
    claim = fail(ErrorKind::failed, "/kubepods", "another evictd works on these pods: process 7");
    executor.emplace(clock, reaper, false);
    shed.emplace(clock, nullptr, false);
    agent.emplace(Parts{loop, clock, events, tree, observer, *executor, *shed, [](RecordPtr) {},
                        [this](const port::PodsRoot&) { return claim; }},
                  AgentOptions{.eviction = eviction});
    const auto started = agent->start();
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().why, "another evictd works on these pods: process 7");
}

TEST_F(Agents, BrokenManifestsBecomeNotices) {
    declare(100_MiB);
    make();
    records.clear();
    agent->set_pods(0, {.pods = {}, .rejected = {Error{ErrorKind::invalid, "a.yaml:3", "no uid", "add metadata.uid"}}});
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(std::get<AgentNotice>(*records[0]).notice, Notice::pod_rejected);
    EXPECT_EQ(std::get<AgentNotice>(*records[0]).message, "a.yaml:3: no uid (add metadata.uid)");
}

TEST_F(Agents, ALookThatSeesLessThanThereIsIsToldOnce) {
    declare(100_MiB);
    make();
    records.clear();
    tree.trouble_text = "2 of the pods' cgroups cannot be opened";
    for (int look = 0; look < 2; look++) {
        clock.advance(std::chrono::seconds(1));
        agent->request_look();
    }
    ASSERT_EQ(records.size(), 3U) << "two looks, one notice";
    const auto& notice = std::get<AgentNotice>(*records[1]);
    EXPECT_EQ(notice.notice, Notice::look_incomplete);
    EXPECT_NE(notice.message.find("2 of the pods' cgroups cannot be opened"), std::string::npos);
}

TEST_F(Agents, NewThresholdsHoldFromTheNextLook) {
    declare(100_MiB);
    make();
    eviction.thresholds[0].value = {Quantity::of((900_MiB).value)};
    clock.advance(std::chrono::seconds(1));
    agent->set_config(eviction, std::chrono::seconds(10));
    EXPECT_EQ(events.watermarks[0].threshold, 900_MiB);
    EXPECT_TRUE(last().decision.evict) << "824Mi are available, under the new threshold";
}

TEST_F(Agents, WhileALineIsNearTheFirstVictimIsTheOneForTheKernelToo) {
    declare(100_MiB);
    make();
    EXPECT_TRUE(scores.steered.empty()) << "memory is not short";
    declare(700_MiB);  // 224 MiB are left, and the thresholds are 200 and 250
    events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 240_MiB}, clock.monotonic());
    turn();
    EXPECT_EQ(scores.steered, (std::vector<std::string>{"hog"}));
    events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 240_MiB}, clock.monotonic());
    turn();
    EXPECT_EQ(scores.steered.size(), 1U) << "said once";
    declare(100_MiB);
    clock.advance(std::chrono::seconds(1));
    agent->request_look();
    EXPECT_EQ(scores.steered.back(), "");
}

TEST_F(Agents, TheVictimOnItsWayStaysTheKernelsChoice) {
    declare(100_MiB);
    make();
    declare(800_MiB);
    cross(124_MiB);
    cross(124_MiB);
    EXPECT_EQ(scores.steered, (std::vector<std::string>{"hog"}));
}

TEST_F(Agents, ScoresAreLookedAtWhenPodsChangeAndAfterALookPeriod) {
    declare(100_MiB);
    make();
    EXPECT_EQ(scores.looks, 2) << "at the start, and when the pods were told";
    EXPECT_EQ(scores.looked_at, 2U);
    EXPECT_EQ(scores.node_memory, 8_GiB);
    clock.advance(std::chrono::seconds(1));
    agent->request_look();
    EXPECT_EQ(scores.looks, 2);
    clock.advance(std::chrono::seconds(10));
    agent->request_look();
    EXPECT_EQ(scores.looks, 3);
}

TEST_F(Agents, AWrittenScoreIsCheckedWithoutALookAndOnlyInKnownPods) {
    declare(100_MiB);
    make();
    const auto before = records.size();
    events.tell(OomScoreChanged{.pid = 7, .cgroup = {99}, .pod_cgroup = {hog_id}, .oom_score_adj = 0},
                clock.monotonic());
    events.tell(OomScoreChanged{.pid = 8, .cgroup = {99}, .pod_cgroup = {77}, .oom_score_adj = 0}, clock.monotonic());
    turn();
    EXPECT_EQ(scores.checked, (std::vector<std::string>{"hog"}));
    EXPECT_EQ(records.size(), before);
}

TEST_F(Agents, APodsFirstProcessIsExpected) {
    declare(100_MiB);
    make();
    events.tell(CgroupLife{CgroupChange::populated, CgroupId{hog_id}, "/kubepods/podhog"}, clock.monotonic());
    events.tell(CgroupLife{CgroupChange::emptied, CgroupId{quiet_id}, "/kubepods/podquiet"}, clock.monotonic());
    turn();
    EXPECT_EQ(scores.expected, (std::vector<std::string>{"hog"}));
}

TEST_F(Agents, AnOomKillIsOfThePodAndContainerTheKernelProgramFound) {
    declare(100_MiB);
    make();
    auto named = *pod("hog");
    named.containers.push_back(
        {.name = "app", .requests = {}, .limits = {}, .restartable = false, .id = "x://0123456789ab"});
    agent->set_pods(0, {.pods = {std::make_shared<const Pod>(named)}, .rejected = {}});
    OomKill kill{.pid = 7, .comm = "java"};
    kill.pod_cgroup = CgroupId{hog_id};
    kill.container_cgroup = "crio-0123456789ab.scope";
    events.tell(kill, clock.monotonic());
    turn();
    const auto& told = std::get<OomKill>(last().kernel_events.at(0).kind);
    EXPECT_EQ(told.pod.value, "hog");
    EXPECT_EQ(told.container, "app");
}

}  // namespace
}  // namespace evictd::app

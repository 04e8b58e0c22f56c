// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods with as many processes as they like: what that costs, that all are reached, and the ledger of what was raised.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "unit/reconcile/score_fixture.hpp"

namespace evictd::reconcile {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Each process that is looked at costs 100 us of the keeper's CPU time, and the clock goes on with it.
class BusyKeeper : public Keeper {
protected:
    static constexpr int many = 10000;

    void make_many(int score, OomScoreAdjPolicy policy = OomScoreAdjPolicy::enforce) {
        for (int pid = 1; pid <= many; pid++) scores.processes[{1}].push_back({.pid = pid, .score = score});
        scores.processes[{2}] = {{.pid = 20000, .score = wanted}};
        busy({.policy = policy});
    }
    void busy(ScoreOptions options) {
        scores.on_visit = [this] {
            used += std::chrono::microseconds(100);
            clock.advance(std::chrono::microseconds(100));
        };
        options.cpu_time = [this] { return used; };
        make(std::move(options));
    }
    // As the lane does it: whenever something is due.
    void live(Duration time) {
        const auto end = clock.monotonic() + time;
        while (true) {
            const auto due = keeper->due();
            if (!due || *due > end) break;
            if (*due > clock.monotonic()) clock.advance(*due - clock.monotonic());
            keeper->act_on_time();
        }
        if (end > clock.monotonic()) clock.advance(end - clock.monotonic());
    }
    [[nodiscard]] int at_score(int score) {
        return static_cast<int>(std::count_if(scores.processes[{1}].begin(), scores.processes[{1}].end(),
                                              [&](const auto& process) { return process.score == score; }));
    }
    Duration used{0};
};

TEST_F(BusyKeeper, TenThousandIdleProcessesCostTwoPercentAndOtherPodsAreNotKeptWaiting) {
    make_many(wanted);
    look();
    live(seconds(1));
    used = {};
    for (int i = 0; i < 12; i++) {
        look();
        live(seconds(5));
        scores.at(2).score = 0;
        keeper->check(b.pod->uid);
        live(seconds(5));
        EXPECT_EQ(scores.at(2).score, wanted);
    }
    EXPECT_LE(used, milliseconds(2600)) << "2 % of 120 s, and a burst";
    EXPECT_GE(used, milliseconds(2000)) << "and what it may spend is spent on looking";
    EXPECT_EQ(count("processes were not reached within 30s"), 1U);
}

TEST_F(BusyKeeper, WhatIsOffInAPodOfManyIsSetInTheEnd) {
    make_many(0);
    look();
    EXPECT_LT(at_score(wanted), many);
    live(seconds(70));
    EXPECT_EQ(at_score(wanted), many);
    EXPECT_EQ(count("of its 10000 processes were not reached within 30s"), 1U);
}

TEST_F(BusyKeeper, TheFirstVictimIsRaisedAtOnceButNotAgainAndAgain) {
    make_many(500, OomScoreAdjPolicy::off);
    keeper->look({a, b}, 1_GiB);
    keeper->steer(a.pod->uid);
    EXPECT_GT(at_score(1000), 2000) << "what half a second of CPU time raises";
    EXPECT_EQ(count("processes are raised later"), 1U);
    live(seconds(120));
    EXPECT_EQ(at_score(1000), many);
    used = {};
    const auto begin = clock.monotonic();
    for (int i = 0; i < 60; i++) {  // memory moves around the line
        keeper->steer(std::nullopt);
        live(seconds(2));
        keeper->steer(a.pod->uid);
        live(seconds(2));
    }
    EXPECT_LT(used, seconds(1) + 60 * milliseconds(60) + (clock.monotonic() - begin) / 25);
}

// Each has more than one that is raised has at once, so something is left of each turn.
TEST_F(BusyKeeper, PodsThatTakeTurnsAsTheFirstCostLittleAndKeepNoOtherFromItsClass) {
    auto c = pod("c", 3);
    auto d = pod("d", 4);
    for (int pid = 1; pid <= 300; pid++) {
        scores.processes[{1}].push_back({.pid = pid, .score = wanted});
        scores.processes[{2}].push_back({.pid = 1000 + pid, .score = wanted});
    }
    scores.processes[{3}] = {{.pid = 20000, .score = wanted}};
    scores.processes[{4}] = {{.pid = 20001, .score = wanted}};
    busy({.policy = OomScoreAdjPolicy::enforce});
    keeper->look({a, b, c, d}, 1_GiB);
    live(seconds(60));
    used = {};
    const auto take_turns = [&](int turns) {
        for (int i = 0; i < turns; i++) {
            keeper->steer(i % 2 == 0 ? a.pod->uid : b.pod->uid);
            live(milliseconds(100));
        }
    };
    take_turns(600);
    EXPECT_LT(used, 66 * milliseconds(80)) << "each second 256 raised, with two visits each, and 256 put back";
    keeper->steer(c.pod->uid);
    live(seconds(1));
    EXPECT_EQ(scores.at(3).score, 1000);
    take_turns(20);
    EXPECT_EQ(scores.at(3).score, wanted) << "put back with the next turn";
    keeper->steer(c.pod->uid);
    live(seconds(1));
    keeper->steer(std::nullopt);
    scores.at(4).score = 0;
    keeper->check(d.pod->uid);
    live(milliseconds(1100));
    EXPECT_EQ(scores.at(3).score, wanted) << "and when there is none";
    live(seconds(28));
    EXPECT_EQ(scores.at(4).score, wanted);
    EXPECT_EQ(at_score(wanted), 300);
}

TEST_F(BusyKeeper, WhenTheAgentEndsAllIsPutBackInLinearTime) {
    make_many(500, OomScoreAdjPolicy::off);
    keeper->look({a, b}, 1_GiB);
    keeper->steer(a.pod->uid);
    live(seconds(120));
    const auto visits = scores.visits;
    keeper->release();
    EXPECT_EQ(at_score(500), many);
    EXPECT_LE(scores.visits - visits, 2U * many);
    EXPECT_FALSE(std::filesystem::exists(memory));
}

TEST_F(BusyKeeper, ALedgerOfManyComesBack) {
    make_many(500, OomScoreAdjPolicy::off);
    scores.on_visit = {};
    keeper->look({a, b}, 1_GiB);
    keeper->steer(a.pod->uid);
    ASSERT_EQ(at_score(1000), many);
    make({.policy = OomScoreAdjPolicy::off});
    keeper->recover(std::vector<port::FoundPod>{{a.pod->uid, a.cgroup}});
    EXPECT_EQ(at_score(500), many);
}

// As real clocks do: no two readings are the same.
class RunningClock final : public sys::Clock {
public:
    [[nodiscard]] MonotonicTime monotonic() const override { return now_ += std::chrono::nanoseconds(100); }
    [[nodiscard]] WallTime wall() const override { return {}; }
    [[nodiscard]] Duration thread_cpu() const override { return now_.time_since_epoch(); }

private:
    mutable MonotonicTime now_{std::chrono::hours(1)};
};

TEST_F(Keeper, WorksOnWhileTheClockGoesOn) {
    scores.processes = {{{1}, {{.pid = 10, .score = 0}}}, {{2}, {{.pid = 20, .score = 0}}}};
    const RunningClock running;
    keeper.emplace(scores, running,
                   ScoreOptions{.ledger_path = memory,
                                .wanted =
                                    [](const Pod&, const std::string&, Bytes) {
                                        return ScoreRange{wanted, wanted};
                                    },
                                .cpu_time = [] { return Duration::zero(); }},
                   [](const AgentNotice&) {});
    look();
    EXPECT_EQ(scores.at(1).score, wanted);
    EXPECT_EQ(scores.at(2).score, wanted);
}

TEST_F(Keeper, ProcessesThatComeAndGoWhileTheirPodIsRaisedDoNotFillMemory) {
    scores.processes = {{{1}, {{.pid = 10, .score = 700}}}, {{2}, {}}};
    make({.policy = OomScoreAdjPolicy::off});
    look();
    keeper->steer(a.pod->uid);
    for (int pid = 100; pid < 5000; pid++) {
        scores.processes[{1}].resize(1);
        scores.processes[{1}].push_back({.pid = pid, .score = 300});
        pass(milliseconds(1100));
    }
    EXPECT_LT(std::filesystem::file_size(memory), 8192U);
    keeper->release();
    EXPECT_EQ(scores.at(1, 0).score, 700);
    EXPECT_EQ(scores.at(1, 1).score, 300);
}

TEST_F(Keeper, WhatCannotBeWrittenDownFirstIsNotRaised) {
    scores.processes = {{{1}, {{.pid = 10, .score = 700}}}, {{2}, {}}};
    std::ofstream(directory / "state") << "a file where the directory should be";
    make({.policy = OomScoreAdjPolicy::off});
    look();
    keeper->steer(a.pod->uid);
    pass(seconds(5));
    EXPECT_EQ(scores.at(1).score, 700);
    EXPECT_EQ(count("Not raising oom_score_adj of pod default/a: could not save"), 1U) << "and that is said once";
    std::filesystem::remove(directory / "state");
    pass(seconds(5));
    EXPECT_EQ(scores.at(1).score, 1000) << "it is tried again";
}

TEST_F(Keeper, WhereThePodsCannotBeListedWhatIsRememberedStays) {
    scores.processes = {{{1}, {{.pid = 10, .score = 700}}}, {{2}, {}}};
    make({.policy = OomScoreAdjPolicy::off});
    look();
    keeper->steer(a.pod->uid);
    make({.policy = OomScoreAdjPolicy::off});
    keeper->recover(fail(ErrorKind::failed, "pods' cgroup", "Too many open files"));
    EXPECT_TRUE(std::filesystem::exists(memory));
    keeper->release();
    EXPECT_TRUE(std::filesystem::exists(memory)) << "for the next";
    make({.policy = OomScoreAdjPolicy::off});
    scores.list_error = Error{ErrorKind::failed, "cgroup.procs", "Too many open files", {}};
    keeper->recover(std::vector<port::FoundPod>{{a.pod->uid, a.cgroup}});
    EXPECT_EQ(scores.at(1).score, 1000);
    EXPECT_TRUE(std::filesystem::exists(memory));
    scores.list_error.reset();
    look();
    keeper->release();
    EXPECT_EQ(scores.at(1).score, 700);
}

TEST(RaisedText, ComesBackAsItWasAndOnlyForThisBoot) {
    const RaisedPods raised{{{"a"}, {{7}, {{1, 2, -3}, {4, 5, 1000}}}}, {{"b"}, {{8}, {}}}};
    const auto text = raised_text(raised, "boot-1");
    EXPECT_EQ(raised_from(text, "boot-1").value_or(RaisedPods{}), raised);
    EXPECT_TRUE(raised_from(text, "boot-2").value().empty());
    EXPECT_EQ(raised_from(text + "pod c", "boot-1").value_or(RaisedPods{}), raised)
        << "a line that was not written to its end";
    for (const char* broken : {"", "nonsense", "evictd raised oom_score_adj 1\nboot b\nprocess 1 2 3\n",
                               "evictd raised oom_score_adj 1\nboot b\npod a 7\nprocess 1 two 3\n"}) {
        EXPECT_FALSE(raised_from(broken, "b")) << broken;
    }
}

TEST(RaisedText, OfEveryProcessThatLinuxCanHaveIsRead) {
    const fakes::TempDir directory;
    const auto path = directory / "raised_scores";
    RaisedPods raised;
    raised[{"a"}].cgroup = {7};
    for (int pid = 1; pid <= 400'000; pid++) raised[{"a"}].processes.add({pid, 123'456'789U, 1000});
    ASSERT_TRUE(remember_raised(path, raised));
    ASSERT_TRUE(remember_more(path, {"b"}, {8}, std::vector<RaisedProcess>{{5, 6, 7}}));
    EXPECT_GT(std::filesystem::file_size(path), 4U << 20U);
    const auto again = remembered_raised(path);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->at({"a"}), raised.at({"a"}));
    EXPECT_EQ(again->at({"b"}).processes.find(5)->score, 7);
}

}  // namespace
}  // namespace evictd::reconcile

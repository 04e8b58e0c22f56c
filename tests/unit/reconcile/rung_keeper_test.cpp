// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is held is put back: when it is not wanted any more, when its time is over, and by whoever comes after an agent
// that was killed at any step.
#include "reconcile/rung_keeper.hpp"

#include <filesystem>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "fakes/fake_cgroups.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/fake_pod_controls.hpp"
#include "fakes/temp_dir.hpp"
#include "reconcile/ledger_file.hpp"

namespace evictd::reconcile {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<HeldRung> held_in(const std::string& file) { return remembered_held(file).value_or(HeldLedger{}).held; }

struct RungKeeping : testing::Test {
    RungKeeping() {
        controls.pods[{7}] = {.usage = 500_MiB};
        clock.set(MonotonicTime{1h});
        make();
    }
    void make(bool dry_run = false) {
        keeper.emplace(controls, clock, RungOptions{.dry_run = dry_run, .ledger_path = file},
                       [this](RungOutcome outcome) { told.push_back(std::move(outcome)); });
    }
    [[nodiscard]] WantedRung wanted(RungKind kind, Duration period = 10s) const {
        return {{kind,
                 {"uid-web"},
                 "default/web",
                 {7},
                 kind == RungKind::squeeze ? 512_MiB : 0_B,
                 clock.monotonic() + period},
                cgroup};
    }
    [[nodiscard]] fakes::FakeControls& web() { return controls.pods.at({7}); }

    fakes::TempDir directory;
    std::string file = directory / "state/rungs";
    fakes::FakeClock clock;
    fakes::FakePodControls controls;
    port::PodCgroupPtr cgroup = std::make_shared<fakes::FakePodCgroup>(CgroupId{7}, "/kubepods/poduid web");
    std::vector<RungOutcome> told;
    std::optional<RungKeeper> keeper;
};

TEST_F(RungKeeping, ASqueezeHoldsUntilItIsNotWantedAndTheLimitFromBeforeIsBack) {
    const auto rung = wanted(RungKind::squeeze);
    keeper->reconcile({rung});
    keeper->reconcile({rung});
    EXPECT_THAT(controls.log, ElementsAre("limit=536870912"));
    EXPECT_EQ(held_in(file).size(), 1U);
    clock.advance(3s);
    keeper->reconcile({});
    EXPECT_EQ(web().high, port::no_limit);
    EXPECT_THAT(held_in(file), IsEmpty());
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0].status, RungStatus::begun);
    EXPECT_EQ(told[1].status, RungStatus::ended);
    EXPECT_EQ(told[1].took, 3s);
    EXPECT_EQ(told[1].error, "");
}

TEST_F(RungKeeping, WhatHasToBePutBackIsRememberedBeforeItIsDone) {
    controls.on_write = [&](const std::string& text) {
        if (text == "limit=536870912" || text == "frozen") {
            EXPECT_FALSE(held_in(file).empty()) << text;
        }
    };
    keeper->reconcile({wanted(RungKind::squeeze), wanted(RungKind::freeze)});
    EXPECT_THAT(controls.log, ElementsAre("limit=536870912", "frozen"));
    EXPECT_EQ(held_in(file).size(), 2U);
}

TEST_F(RungKeeping, WhatCannotBeRememberedIsNotDone) {
    file = "/proc/nowhere/rungs";
    make();
    keeper->reconcile({wanted(RungKind::squeeze), wanted(RungKind::freeze)});
    EXPECT_THAT(controls.log, IsEmpty());
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0].status, RungStatus::failed);
    EXPECT_EQ(told[1].status, RungStatus::failed);
}

TEST_F(RungKeeping, ItEndsByItselfWhenItsTimeIsOver) {
    const auto rung = wanted(RungKind::freeze, 500ms);
    keeper->reconcile({rung});
    EXPECT_EQ(keeper->due(), clock.monotonic() + 500ms);
    clock.advance(499ms);
    keeper->act_on_time();
    EXPECT_TRUE(web().frozen);
    clock.advance(1ms);
    keeper->act_on_time();
    EXPECT_FALSE(web().frozen);
    EXPECT_FALSE(keeper->due());
    keeper->reconcile({rung});
    EXPECT_THAT(controls.log, ElementsAre("frozen", "thawed")) << "said once more, it does not begin again";
}

TEST_F(RungKeeping, WhatAnotherProgramSetIsLeft) {
    web().high = 100_MiB;
    keeper->reconcile({wanted(RungKind::squeeze)});
    EXPECT_THAT(controls.log, IsEmpty()) << "lower already";
    web().high = 2_GiB;  // higher than what is wanted, as a kubelet with MemoryQoS sets it
    make();
    keeper->reconcile({wanted(RungKind::squeeze)});
    keeper->reconcile({});
    EXPECT_THAT(controls.log, IsEmpty());
    EXPECT_EQ(web().high, 2_GiB);
    told.pop_back();
    make();
    web() = {.usage = {}, .cache = {}, .frozen = true};
    keeper->reconcile({wanted(RungKind::freeze)});
    EXPECT_THAT(controls.log, IsEmpty());
    keeper->reconcile({});
    EXPECT_TRUE(web().frozen);
    ASSERT_EQ(told.size(), 2U);
    EXPECT_THAT(told[0].error, HasSubstr("it is already limited to 104857600 bytes"));
    EXPECT_THAT(told[1].error, HasSubstr("it is already frozen"));
}

TEST_F(RungKeeping, ALimitThatAnotherProgramChangedIsLeftAndReported) {
    keeper->reconcile({wanted(RungKind::squeeze)});
    web().high = 300_MiB;
    keeper->reconcile({});
    EXPECT_EQ(web().high, 300_MiB);
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[1].status, RungStatus::ended);
    EXPECT_EQ(told[1].error, "memory.high was changed to 314572800 meanwhile, and is left at that");
    EXPECT_THAT(held_in(file), IsEmpty());
}

TEST_F(RungKeeping, APodThatEndsLeavesNothing) {
    keeper->reconcile({wanted(RungKind::squeeze), wanted(RungKind::freeze)});
    controls.pods.clear();
    keeper->reconcile({});
    EXPECT_THAT(held_in(file), IsEmpty());
    ASSERT_EQ(told.size(), 4U);
    EXPECT_EQ(told[2].error + told[3].error, "");
}

TEST_F(RungKeeping, EachFailedWriteIsReportedAndNothingIsLeft) {
    for (const auto* call : {"limit", "set_limit", "is_frozen", "freeze"}) {
        told.clear();
        controls.broken = call;
        make();
        const bool limits = std::string(call).ends_with("limit");
        keeper->reconcile({wanted(limits ? RungKind::squeeze : RungKind::freeze)});
        ASSERT_EQ(told.size(), 1U) << call;
        EXPECT_EQ(told[0].status, RungStatus::failed) << call;
        EXPECT_THAT(held_in(file), IsEmpty()) << call;
        EXPECT_FALSE(keeper->due()) << call;
    }
    EXPECT_THAT(controls.log, IsEmpty());
}

TEST_F(RungKeeping, AThawThatFailsIsTriedAgainUntilItIsDone) {
    keeper->reconcile({wanted(RungKind::freeze, 500ms)});
    controls.broken = "thaw";
    keeper->reconcile({});
    EXPECT_EQ(held_in(file).size(), 1U) << "for whoever comes after us";
    EXPECT_EQ(keeper->due(), clock.monotonic() + 100ms);
    controls.broken = "";
    clock.advance(100ms);
    keeper->act_on_time();
    EXPECT_FALSE(web().frozen);
    EXPECT_THAT(held_in(file), IsEmpty());
}

TEST_F(RungKeeping, ADryRunTouchesNothingAndReportsAll) {
    make(/*dry_run=*/true);
    keeper->reconcile({wanted(RungKind::squeeze), wanted(RungKind::freeze)});
    keeper->reconcile({});
    EXPECT_THAT(controls.log, IsEmpty());
    EXPECT_THAT(held_in(file), IsEmpty());
    ASSERT_EQ(told.size(), 4U);
    EXPECT_TRUE(told[0].dry_run && told[3].dry_run);
}

// A new keeper over the same file is the next agent, the guard, or `evictd undo`.
TEST_F(RungKeeping, AnAgentThatIsKilledWithItsRungsHeldLeavesNothing) {
    keeper->reconcile({wanted(RungKind::squeeze), wanted(RungKind::freeze)});
    make();
    EXPECT_EQ(keeper->recover().done.size(), 2U);
    EXPECT_EQ(web().high, port::no_limit);
    EXPECT_FALSE(web().frozen);
    EXPECT_THAT(held_in(file), IsEmpty());
    EXPECT_TRUE(keeper->recover().nothing());
}

TEST_F(RungKeeping, AnAgentThatIsKilledAtAnyStepLeavesNothing) {
    struct Killed {};
    for (const auto* step : {"limit=536870912", "frozen", "limit=max", "thawed"}) {
        web() = {.usage = 500_MiB, .cache = {}};
        make();
        controls.on_write = [&](const std::string& text) {
            if (text == step) throw Killed{};
        };
        try {
            keeper->reconcile({wanted(RungKind::squeeze), wanted(RungKind::freeze)});
            keeper->reconcile({});
            FAIL() << step << " was never written";
        } catch (const Killed&) {}
        controls.on_write = nullptr;
        make();
        EXPECT_THAT(keeper->recover().failed, IsEmpty()) << step;
        EXPECT_EQ(web().high, port::no_limit) << step;
        EXPECT_FALSE(web().frozen) << step;
        EXPECT_THAT(held_in(file), IsEmpty()) << step;
    }
}

TEST_F(RungKeeping, WhatCannotBePutBackStaysInTheFileAndAnotherProgramsLimitStays) {
    keeper->reconcile({wanted(RungKind::squeeze), wanted(RungKind::freeze)});
    web().high = 300_MiB;
    controls.broken = "thaw";
    const auto result = put_back_all(controls, file);
    ASSERT_EQ(result.failed.size(), 1U);
    ASSERT_EQ(result.left.size(), 1U);
    EXPECT_NE(result.left[0].find("meanwhile, and is left at that"), std::string::npos) << result.left[0];
    EXPECT_EQ(web().high, 300_MiB);
    ASSERT_EQ(held_in(file).size(), 1U);
    EXPECT_EQ(held_in(file)[0].kind, RungKind::freeze);
}

TEST_F(RungKeeping, AVictimThatTheReaperOfAKilledAgentLeftFrozenIsThawed) {
    web().frozen = true;
    ASSERT_TRUE(remember_held(victims_path(file), {{RungKind::freeze, {cgroup->path(), cgroup->id()}, 0_B, 0_B}}));
    (void)keeper->recover();
    EXPECT_FALSE(web().frozen);
    EXPECT_FALSE(std::filesystem::exists(victims_path(file)));
}

TEST(HeldRungs, AreReadAsTheyWereWrittenAndOnlyInTheSameBoot) {
    const std::vector<HeldRung> held{{RungKind::squeeze, {"/kubepods/a b", {7}}, 512_MiB, port::no_limit},
                                     {RungKind::freeze, {"/kubepods/c", {~0ULL}}, 0_B, 0_B}};
    const auto text = held_text(held, "boot-1");
    EXPECT_EQ(held_from(text, "boot-1").held, held);
    EXPECT_EQ(held_from(text, "boot-1").fault, "");
    EXPECT_THAT(held_from(text, "boot-2").held, IsEmpty());
    EXPECT_TRUE(held_from(text, "boot-2").is_of_another_boot);
}

TEST(HeldRungs, OfABrokenLedgerWhatIsWholeIsReadAndTheRestReported) {
    const std::string begin = "evictd rungs 1\nboot b\n";
    const std::string good = "freeze 7 0 0 /a\n";
    for (const std::string& text : {std::string(), std::string("garbage"), std::string("evictd rungs 1\n")}) {
        EXPECT_NE(held_from(text, "b").fault, "") << text;
        EXPECT_THAT(held_from(text, "b").held, IsEmpty()) << text;
    }
    for (const std::string& bad : {std::string("squeeze 7 what\n"), std::string("reclaim 7 1 1 /a\n"),
                                   std::string("freeze 7 0 0\n"), std::string("freeze 8 0 0 /b")}) {
        const auto ledger = held_from(begin + good + bad, "b");
        EXPECT_NE(ledger.fault, "") << bad;
        ASSERT_EQ(ledger.held.size(), 1U) << bad;
        EXPECT_EQ(ledger.held[0].place.path, "/a");
    }
    EXPECT_NE(held_from(begin + good + "x\n" + good, "b").fault.find("line 4"), std::string::npos);
}

TEST_F(RungKeeping, ABrokenLedgerIsReportedSetAsideAndTheRestPutBack) {
    keeper->reconcile({wanted(RungKind::freeze)});
    directory.write("state/rungs", read_ledger(file).value().value_or("") + "freeze 7");
    make();
    const auto recovered = keeper->recover();
    EXPECT_FALSE(web().frozen);
    ASSERT_EQ(recovered.failed.size(), 1U);
    EXPECT_NE(recovered.failed[0].text().find("truncated"), std::string::npos) << recovered.failed[0].text();
    EXPECT_EQ(recovered.done.size(), 1U);
    EXPECT_TRUE(std::filesystem::exists(file + ".broken"));
    EXPECT_TRUE(keeper->recover().nothing()) << "once";
}

TEST_F(RungKeeping, ALedgerThatOthersCouldWriteIsNotBelieved) {
    keeper->reconcile({wanted(RungKind::freeze)});
    for (const mode_t mode : {0666U, 0620U}) {
        ASSERT_EQ(::chmod(file.c_str(), mode), 0);
        make();
        EXPECT_EQ(keeper->recover().failed.size(), 1U);
        EXPECT_TRUE(web().frozen);
    }
}

}  // namespace
}  // namespace evictd::reconcile

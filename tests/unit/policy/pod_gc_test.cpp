// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pod GC: one rule a test. Actions are compared as short words: "delete a", "fail a", "look up node n", "remove s".
#include "pod_gc.hpp"

#include <gtest/gtest.h>

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

constexpr MonotonicTime boot{std::chrono::hours(1)};

std::shared_ptr<Pod> gc_pod(const std::string& name, PodPhase phase = PodPhase::running) {
    auto made = std::make_shared<Pod>();
    made->uid = {"uid-" + name};
    made->name_space = "default";
    made->name = name;
    made->phase = phase;
    made->node_name = "here";
    made->creation_time = WallTime(1h);
    return made;
}

PodPtr ended(const std::string& name, std::optional<Duration> created, const std::string& reason = "") {
    auto made = gc_pod(name, PodPhase::failed);
    made->status_reason = reason;
    made->creation_time.reset();
    if (created) made->creation_time = WallTime(*created);
    return made;
}

Words words(const PodGcPass& pass) {
    Words result;
    for (const PodGcAction& action : pass.actions) {
        EXPECT_NE(action.why, "");
        const std::string short_name = action.pod_name.substr(action.pod_name.find('/') + 1);
        switch (action.verb) {
            case PodGcVerb::look_up:
                result.push_back((action.suspect.kind == Suspect::Kind::node ? "look up node " : "look up pod ") +
                                 action.suspect.id);
                break;
            case PodGcVerb::fail_pod:
                result.push_back("fail " + short_name);
                break;
            case PodGcVerb::delete_pod:
                result.push_back("delete " + short_name);
                break;
            case PodGcVerb::remove:
                result.push_back("remove " + action.remains.id);
                break;
        }
    }
    return result;
}

// Looks that follow each other.
struct Collector {
    PodGcPolicy policy{};
    PodGcState state{};
    PodGcPass last{};

    Words at(Duration since, PodGcLook look) {
        look.now = boot + since;
        last = collect_pods(policy, look, state);
        state = last.state;
        return words(last);
    }
};

Words at_once(const PodGcLook& look, int threshold = 12500) {
    return words(collect_pods({.terminated_threshold = threshold}, look, {}));
}

TEST(PodGc, TerminatedPodsBeyondTheThresholdGoEvictedFirstThenTheOldest) {
    PodGcLook look;
    look.pods = {ended("young", 9h),
                 ended("old", 2h),
                 ended("evicted-young", 8h, "Evicted"),
                 ended("evicted-old", 7h, "Evicted"),
                 ended("no-time", std::nullopt),
                 gc_pod("alive")};
    EXPECT_EQ(at_once(look, 1), (Words{"delete evicted-old", "delete evicted-young", "delete no-time", "delete old"}));
    EXPECT_EQ(at_once(look, 4), (Words{"delete evicted-old"}));
    EXPECT_EQ(at_once(look, 5), Words{});
}

TEST(PodGc, EquallyOldPodsGoByName) {
    PodGcLook look;
    look.pods = {ended("c", 1h), ended("a", 1h), ended("b", 1h)};
    EXPECT_EQ(at_once(look, 1), (Words{"delete a", "delete b"}));
}

TEST(PodGc, EvictedMeansFailedWithThatVeryReason) {
    auto succeeded = gc_pod("succeeded", PodPhase::succeeded);
    succeeded->status_reason = "Evicted";
    PodGcLook look;
    look.pods = {succeeded, ended("b", 5h, "evicted"), ended("c", 9h, "Evicted")};
    EXPECT_EQ(at_once(look, 2), (Words{"delete c"}));
}

TEST(PodGc, TheThresholdIs12500UnlessSetAndZeroIsNone) {
    PodGcLook look;
    for (int i = 0; i < 12501; ++i) look.pods.push_back(ended(std::to_string(i), 1h + std::chrono::seconds(i)));
    EXPECT_EQ(at_once(look), (Words{"delete 0"}));
    EXPECT_EQ(at_once(look, 0), Words{});
    EXPECT_EQ(at_once(look, -1), Words{});
}

TEST(PodGc, OnlySucceededAndFailedPodsHaveTerminated) {
    PodGcLook look;
    for (const PodPhase phase : {PodPhase::pending, PodPhase::running, PodPhase::unknown}) {
        look.pods.push_back(gc_pod("alive", phase));
    }
    look.pods.push_back(ended("failed", 1h));
    auto succeeded = gc_pod("succeeded", PodPhase::succeeded);
    look.pods.push_back(succeeded);
    EXPECT_EQ(at_once(look, 1), (Words{"delete failed"}));
}

TEST(PodGc, ATerminatingPodThatWasNeverScheduledGoes) {
    auto unscheduled = gc_pod("unscheduled", PodPhase::pending);
    unscheduled->node_name.clear();
    auto terminating = std::make_shared<Pod>(*unscheduled);
    terminating->name = "terminating";
    terminating->deletion_time = WallTime(2h);
    auto scheduled = std::make_shared<Pod>(*terminating);
    scheduled->node_name = "here";
    PodGcLook look;
    look.pods = {unscheduled, terminating, scheduled};
    const auto pass = collect_pods({}, look, {});
    EXPECT_EQ(words(pass), (Words{"fail terminating", "delete terminating"}));
    EXPECT_EQ(pass.actions.front().message, never_scheduled_message);
}

TEST(PodGc, APodIsDeletedOnce) {
    auto both = gc_pod("both", PodPhase::failed);
    both->node_name.clear();
    both->deletion_time = WallTime(2h);
    PodGcLook look;
    look.pods = {both, ended("other", 9h)};
    EXPECT_EQ(at_once(look, 1), (Words{"delete both"}));
}

TEST(PodGc, PodsOfALostNodeGoAfterQuarantineAndOneLookUp) {
    auto lost = gc_pod("lost");
    lost->node_name = "away";
    PodGcLook look;
    look.pods = {lost, gc_pod("here"), ended("dead", 1h)};
    auto dead = std::make_shared<Pod>(*look.pods.back());
    dead->node_name = "away";
    look.pods.back() = dead;
    look.nodes = {"here"};

    Collector collector;
    EXPECT_EQ(collector.at(0s, look), Words{});
    EXPECT_EQ(collector.at(40s - 1ns, look), Words{});
    EXPECT_EQ(collector.at(40s, look), (Words{"look up node away"}));
    EXPECT_EQ(collector.at(50s, look), Words{});  // asked once

    PodGcLook answered = look;
    answered.answers = {{{Suspect::Kind::node, "away"}, false}};
    EXPECT_EQ(collector.at(60s, answered), (Words{"fail lost", "delete lost", "delete dead"}));
    EXPECT_EQ(collector.last.actions.front().message, node_gone_message);
    // Deletions that failed are not repeated on the old proof.
    EXPECT_EQ(collector.at(61s, look), Words{});
    EXPECT_EQ(collector.at(100s, look), (Words{"look up node away"}));
}

TEST(PodGc, NoPodIsJudgedByUnknownNodes) {
    Collector collector;
    PodGcLook look;
    look.pods = {gc_pod("a")};
    EXPECT_EQ(collector.at(0s, look), Words{});
    EXPECT_EQ(collector.at(100s, look), Words{});
}

TEST(PodGc, APodWithoutANodeHasLostNone) {
    auto unbound = gc_pod("unbound", PodPhase::pending);
    unbound->node_name.clear();
    PodGcLook look;
    look.pods = {unbound};
    look.nodes = std::set<std::string>{};
    Collector collector;
    EXPECT_EQ(collector.at(0s, look), Words{});
    EXPECT_EQ(collector.at(100s, look), Words{});
}

struct Orphan : ::testing::Test {
    Orphan() {
        look.pods = {gc_pod("known")};
        look.remains = {{{"uid-known"}, RemainsKind::cgroup, "/known"},
                        {{"uid-gone"}, RemainsKind::sandbox, "s"},
                        {{"uid-gone"}, RemainsKind::cgroup, "/cg"}};
    }
    PodGcLook answered(std::optional<bool> exists) const {
        PodGcLook with = look;
        with.answers = {{{Suspect::Kind::pod, "uid-gone"}, exists}};
        return with;
    }
    PodGcLook look;
    Collector collector;
};

TEST_F(Orphan, RemainsGoAfterQuarantineAndOneLookUp) {
    EXPECT_EQ(collector.at(0s, look), Words{});
    EXPECT_EQ(collector.at(39s, look), Words{});
    EXPECT_EQ(collector.at(40s, look), (Words{"look up pod uid-gone"}));
    EXPECT_EQ(collector.at(41s, answered(false)), (Words{"remove s", "remove /cg"}));
}

TEST_F(Orphan, AnUnrequestedAnswerProvesNothing) {
    EXPECT_EQ(collector.at(0s, answered(false)), Words{});
    EXPECT_EQ(collector.at(1s, answered(false)), Words{});
    EXPECT_EQ(collector.at(40s, answered(false)), (Words{"look up pod uid-gone"}));
}

TEST_F(Orphan, WhatExistsAfterAllOrCannotBeAskedWaitsAnotherQuarantine) {
    for (const std::optional<bool> exists : {std::optional<bool>(true), std::optional<bool>()}) {
        Collector again;
        again.at(0s, look);
        EXPECT_EQ(again.at(40s, look), (Words{"look up pod uid-gone"}));
        EXPECT_EQ(again.at(41s, answered(exists)), Words{});
        EXPECT_EQ(again.at(80s, look), Words{});
        EXPECT_EQ(again.at(81s, look), (Words{"look up pod uid-gone"}));
        EXPECT_EQ(again.at(82s, answered(false)), (Words{"remove s", "remove /cg"}));
    }
}

TEST_F(Orphan, APodThatAppearsInQuarantineLeavesIt) {
    collector.at(0s, look);
    PodGcLook appeared = look;
    appeared.pods.push_back(gc_pod("gone"));
    EXPECT_EQ(collector.at(39s, appeared), Words{});
    EXPECT_EQ(collector.at(41s, look), Words{});
    EXPECT_EQ(collector.at(81s, look), (Words{"look up pod uid-gone"}));
}

TEST_F(Orphan, NothingIsAnOrphanUntilEverySourceWasRead) {
    collector.at(0s, look);
    PodGcLook blind = answered(false);
    blind.sources_ready = false;
    EXPECT_EQ(collector.at(40s, blind), Words{});
    EXPECT_EQ(collector.at(41s, look), Words{});
}

TEST_F(Orphan, RemainsOfADeadPodThatASourceKnowsStay) {
    look.pods.push_back(ended("gone", 1h));
    collector.at(0s, look);
    EXPECT_EQ(collector.at(41s, look), Words{});
}

}  // namespace
}  // namespace evictd::policy

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The load generator takes what the demo tells it, in every pod of every scenario.
#include "demo/load_words.hpp"

#include <gtest/gtest.h>

#include "demo/oomrace.hpp"
#include "load/options.hpp"

namespace evictd::demo {
namespace {

load::Options options_of(const Plan& plan, const PodPlan& pod) {
    const auto options = load::parse(load_words(plan, pod, "/files"));
    EXPECT_TRUE(options) << name(plan.scenario) << ", " << pod.full_name() << ": " << options.error();
    return options.value_or(load::Options{});
}

TEST(LoadWords, AreParsedAndHoldWhatIsPlanned) {
    for (const auto& word : names_of<Scenario>()) {
        const Scenario scenario = *from_name<Scenario>(word);
        const Plan plan = scenario == Scenario::oomrace ? oomrace_plan(1_GiB, 8_GiB, true) : plan_for(scenario, 1_GiB);
        for (const auto& pod : plan.pods) {
            const auto options = options_of(plan, pod);
            EXPECT_EQ(options.hold * load::mib, static_cast<std::size_t>(pod.holds.value));
            const bool begins = &pod == &plan.actor_pod() || (plan.neighbour && &pod == &plan.pods[*plan.neighbour]);
            EXPECT_EQ(options.after, begins ? "-" : "");
            EXPECT_EQ(options.kind == load::Kind::hold, !begins);
        }
    }
}

TEST(LoadWords, NoPodGrowsBeyondTheLimitOfAll) {
    for (const auto scenario : {Scenario::spike, Scenario::leak, Scenario::sockets}) {
        const Plan plan = plan_for(scenario, 256_MiB);
        EXPECT_EQ(options_of(plan, plan.actor_pod()).up_to, 256U);
    }
}

TEST(LoadWords, OnlyTheLeakShutsDownWhenAsked) {
    const Plan leak = plan_for(Scenario::leak, 1_GiB);
    EXPECT_GT(options_of(leak, leak.actor_pod()).term_ms, 0);
    const Plan spike = plan_for(Scenario::spike, 1_GiB);
    EXPECT_LT(options_of(spike, spike.actor_pod()).term_ms, 0);
}

TEST(LoadWords, TheProcessesOfTheRaceExitTogether) {
    const Plan race = oomrace_plan(1_GiB, 8_GiB, true);
    const auto options = options_of(race, race.actor_pod());
    EXPECT_EQ(options.processes, static_cast<std::size_t>(race.actor_pod().processes));
    EXPECT_TRUE(options.together);
}

}  // namespace
}  // namespace evictd::demo

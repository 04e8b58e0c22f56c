// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An agent of another version may say more, or less.
#include "agent_pods.hpp"

#include <string>

#include <gtest/gtest.h>

namespace evictd::codec {
namespace {

TEST(AgentPods, AreThoseThatAreRankedAndThoseThatHaveEnded) {
    const auto pods = agent_pods(R"({"ranking":{"pods":[
        {"namespace":"default","name":"web","uid":"u1","populated":true},
        {"namespace":"default","name":"idle","uid":"u2","populated":false}]},
        "finished_pods":[{"namespace":"a","name":"b","uid":"u3","phase":"Failed","reason":"Evicted","deleted":true,
        "populated":false}]})");
    ASSERT_TRUE(pods);
    ASSERT_EQ(pods->size(), 3U);
    EXPECT_EQ(pods->at(0).pod.full_name(), "default/web");
    EXPECT_EQ(pods->at(1).pod.phase, PodPhase::running) << "it is ranked, so it has not ended";
    EXPECT_EQ(pods->at(2).pod.phase, PodPhase::failed);
    EXPECT_EQ(pods->at(2).pod.status_reason, "Evicted");
    EXPECT_TRUE(pods->at(2).pod.deletion_time);
    EXPECT_FALSE(pods->at(2).populated);
}

TEST(AgentPods, WhatIsNotStartedIsSaidWithItsImage) {
    const auto pods = agent_pods(R"({"ranking":{"pods":[{"name":"web","uid":"u1",
        "not_started":[{"name":"main","image":"web:2"},7,{}]},{"name":"old","uid":"u2","not_started":"x"}]}})");
    ASSERT_TRUE(pods);
    ASSERT_EQ(pods->size(), 2U);
    ASSERT_EQ(pods->at(0).pod.containers.size(), 2U);
    EXPECT_EQ(pods->at(0).pod.containers[0].name, "main");
    EXPECT_EQ(pods->at(0).pod.containers[0].image, "web:2");
    EXPECT_TRUE(pods->at(1).pod.containers.empty());
}

TEST(AgentPods, APodThatOnlyTheRuntimeKnowsIsNoneOfThem) {
    const auto pods = agent_pods(R"({"ranking":{"pods":[]},"pods_without_manifest":{"count":1,"uids":["u1"],
        "pods":[{"uid":"u1","namespace":"default","name":"web","working_set_bytes":7}]}})");
    ASSERT_TRUE(pods);
    EXPECT_TRUE(pods->empty()) << "that the runtime lists it does not prove that it is to be there";
}

TEST(AgentPods, WhatIsNotSaidIsNoEnd) {
    const auto pods = agent_pods(R"({"ranking":{"pods":[]},"finished_pods":[
        {"uid":"u1","phase":"Failed"},{"uid":"u2","phase":7,"populated":false},{"name":"no uid"},9]})");
    ASSERT_TRUE(pods);
    ASSERT_EQ(pods->size(), 2U);
    EXPECT_TRUE(pods->at(0).populated) << "it may run";
    EXPECT_EQ(pods->at(1).pod.phase, PodPhase::unknown);
}

TEST(AgentPods, WhatIsNoStatusIsNoAnswer) {
    for (const std::string text : {"", "[]", "{}", "{\"ranking\":7}", "garbage", "{\"v\":1}"}) {
        EXPECT_FALSE(agent_pods(text)) << text;
    }
}

}  // namespace
}  // namespace evictd::codec

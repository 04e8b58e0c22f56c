// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The bodies of requests, and answers as API servers of 1.20 and 1.36 write them.
#include "codec/api_objects.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace evictd::codec {
namespace {

using Json = nlohmann::json;

DesiredPodStatus web() {
    return {.pod = {"uid-1"},
            .name_space = "default",
            .name = "web",
            .reason = "Evicted",
            .message = "The node was low on resource: memory. ",
            .disruption_target = true,
            .generation = 3};
}
const WallTime at{std::chrono::seconds(1'767'225'600)};  // 2026-01-01

TEST(ApiObjects, APatchLatchesOnTheUidAndSetsWhatTheKubeletSets) {
    const auto message = status_patch(web(), at, "v7");
    EXPECT_EQ(message.method, "PATCH");
    EXPECT_EQ(message.path, "/api/v1/namespaces/default/pods/web/status");
    EXPECT_EQ(message.content_type, "application/strategic-merge-patch+json");
    EXPECT_EQ(Json::parse(message.body), Json::parse(R"({
        "metadata": {"uid": "uid-1", "annotations": {"evictd.io/evicted": "v7"}},
        "status": {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory. ",
            "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet",
                "message": "The node was low on resource: memory. ", "lastTransitionTime": "2026-01-01T00:00:00Z",
                "observedGeneration": 3}]}})"));
}

TEST(ApiObjects, WhatIsNotKnownOrNotWantedIsLeftOut) {
    auto pod = web();
    pod.generation = 0;
    EXPECT_EQ(status_patch(pod, at, "v").body.find("observedGeneration"), std::string::npos);
    pod.disruption_target = false;
    EXPECT_EQ(status_patch(pod, at, "v").body.find("conditions"), std::string::npos);
}

TEST(ApiObjects, APodThatWasGivenUpKeepsItsPhase) {
    auto pod = web();
    pod.given_up = true;
    const auto body = Json::parse(status_patch(pod, at, "v7").body);
    EXPECT_EQ(body["metadata"], Json::parse(R"({"uid":"uid-1"})"));
    ASSERT_EQ(body["status"].size(), 1U);
    EXPECT_EQ(body["status"]["conditions"][0]["status"], "False");
}

TEST(ApiObjects, TextsAreCutBetweenCharactersAndAreAlwaysUtf8) {
    auto pod = web();
    pod.message = "x";
    while (pod.message.size() < 40'000) pod.message += "\xc3\xa4";
    const auto cut = Json::parse(status_patch(pod, at, "v").body)["status"]["message"].get<std::string>();
    EXPECT_LE(cut.size(), 32768U);
    EXPECT_GE(cut.size(), 32766U);
    EXPECT_TRUE(cut.ends_with("\xc3\xa4"));
    pod.message = "bad \xff byte";
    EXPECT_FALSE(Json::parse(status_patch(pod, at, "v").body, nullptr, false).is_discarded());
}

TEST(ApiObjects, AnEvictionHasItsPreconditionAndGracePeriod) {
    auto pod = web();
    pod.grace_period = std::chrono::seconds(0);
    const auto message = eviction_post(pod, EvictionApi::v1);
    EXPECT_EQ(message.method + " " + message.path, "POST /api/v1/namespaces/default/pods/web/eviction");
    EXPECT_EQ(Json::parse(message.body), Json::parse(R"({"apiVersion": "policy/v1", "kind": "Eviction",
        "metadata": {"name": "web", "namespace": "default"}, "deleteOptions": {"kind": "DeleteOptions",
        "apiVersion": "v1", "preconditions": {"uid": "uid-1"}, "gracePeriodSeconds": 0}})"));
    EXPECT_NE(eviction_post(pod, EvictionApi::v1beta1).body.find("policy/v1beta1"), std::string::npos);
    pod.grace_period.reset();
    EXPECT_EQ(pod_deletion(pod).body.find("gracePeriodSeconds"), std::string::npos);
    EXPECT_EQ(pod_deletion(pod).method + " " + pod_deletion(pod).path, "DELETE /api/v1/namespaces/default/pods/web");
}

TEST(ApiObjects, ANameThatWouldLeaveItsPathIsNone) {
    auto pod = web();
    EXPECT_TRUE(has_api_name(pod));
    for (const auto* name : {"", ".", "..", "a/b", "a?b", "A", "-a", "a-", "a b", "a%2f", "a\n"}) {
        pod.name = name;
        EXPECT_FALSE(has_api_name(pod)) << name;
    }
    pod.name = "web.0";
    EXPECT_TRUE(has_api_name(pod));
    pod.name_space = "a.b";
    EXPECT_FALSE(has_api_name(pod));
    pod.name_space = std::string(64, 'a');
    EXPECT_FALSE(has_api_name(pod));
}

TEST(ApiObjects, ReadsWhyARequestIsRefused) {
    const auto invalid = read_refusal(R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
        "message":"Pod \"web\" is invalid: metadata.uid: Invalid value: \"uid-2\": field is immutable",
        "reason":"Invalid","details":{"name":"web","kind":"Pod","causes":[{"reason":"FieldValueInvalid",
        "message":"Invalid value: \"uid-2\": field is immutable","field":"metadata.uid"}]},"code":422})");
    EXPECT_EQ(invalid.reason, "Invalid");
    EXPECT_TRUE(invalid.is_about_uid);
    const auto conflict = read_refusal(
        R"({"kind":"Status","status":"Failure","message":"Operation cannot be fulfilled on pods \"web\": Precondition failed: UID in precondition: x, UID in object meta: y","reason":"Conflict",
        "details":{"name":"web","kind":"pods"},"code":409})");
    EXPECT_TRUE(conflict.is_about_uid);
    const auto of_1_20 = read_refusal(
        R"({"kind":"Status","message":"Operation cannot be fulfilled on Pod \"p1\": the UID in the precondition (x) does not match the UID in record (y). The object might have been deleted and then recreated","reason":"Conflict"})");
    EXPECT_TRUE(of_1_20.is_about_uid);
    const auto version = read_refusal(
        R"({"kind":"Status","message":"Eviction in version \"v1\" cannot be handled as a Eviction: no kind \"Eviction\" is registered for version \"policy/v1\" in scheme \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\"","reason":"BadRequest","code":400})");
    EXPECT_TRUE(version.is_of_version);
    const auto budget = read_refusal(
        R"({"kind":"Status","message":"Cannot evict pod as it would violate the pod's disruption budget.","reason":"TooManyRequests","details":{"causes":[{"reason":"DisruptionBudget","message":"The disruption budget x needs 1 healthy pods and has 1 currently"}]},"code":429})");
    EXPECT_TRUE(budget.is_by_budget);
    EXPECT_FALSE(read_refusal("Too many requests, please try again later.").is_by_budget);
    const auto gone = read_refusal(
        R"({"kind":"Status","reason":"NotFound","message":"pods \"web\" not found","details":{"name":"web","kind":"pods"}})");
    EXPECT_EQ(gone.kind, "pods");
    EXPECT_EQ(gone.name, "web");
    EXPECT_FALSE(gone.is_about_uid);
}

TEST(ApiObjects, AnAnswerOfNonsenseIsNoStatusAndNoPod) {
    for (const std::string body :
         {"", "404 page not found", "[]", "null", "{", R"({"kind":[]})", R"({"kind":"Status","details":7})",
          R"({"kind":"Pod","metadata":[]})", R"({"kind":"Status","details":{"causes":[3,{}]}})"}) {
        EXPECT_EQ(read_refusal(body).kind, "") << body;
        EXPECT_FALSE(read_pod_in_api(body)) << body;
    }
    EXPECT_EQ(read_refusal("404 page not found").message, "404 page not found");
    EXPECT_FALSE(read_pod_in_api(std::string(100'000, '[')));
}

TEST(ApiObjects, ReadsAPod) {
    const auto pod =
        read_pod_in_api(R"({"kind":"Pod","metadata":{"uid":"uid-1","deletionTimestamp":"2026-01-01T00:00:00Z",
        "new":{}},"spec":{"nodeName":"n1"},"status":{"phase":"Failed","reason":"Evicted","conditions":[
        {"type":"Ready","status":"False"},{"type":"DisruptionTarget","status":"True"}, 3]}})");
    ASSERT_TRUE(pod);
    EXPECT_EQ(pod->uid, "uid-1");
    EXPECT_EQ(pod->node, "n1");
    EXPECT_EQ(pod->phase, "Failed");
    EXPECT_EQ(pod->reason, "Evicted");
    EXPECT_TRUE(pod->disruption_target);
    EXPECT_TRUE(pod->is_deleting);
}

}  // namespace
}  // namespace evictd::codec

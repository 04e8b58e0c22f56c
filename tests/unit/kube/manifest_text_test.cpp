// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/manifest_text.hpp"

#include <gtest/gtest.h>

#include "sys/file.hpp"

namespace evictd::kube {
namespace {

Manifest fixture(const std::string& name) {
    const auto text = sys::read_file(std::string(EVICTD_FIXTURES) + "/pods/" + name, 1 << 20);
    EXPECT_TRUE(text);
    return parse_manifest(name, text.value_or(""), {});
}

TEST(Manifest, ReadsAPodAsKubectlShowsIt) {
    const auto manifest = fixture("web.yaml");
    ASSERT_TRUE(manifest.rejected.empty()) << manifest.rejected[0].text();
    ASSERT_EQ(manifest.pods.size(), 1U);
    const Pod& pod = *manifest.pods[0].pod;
    EXPECT_EQ(pod.full_name(), "shop/web-7c5ddbdf54-abcde");
    EXPECT_EQ(pod.uid.value, "5d1f9c1e-7f5b-4c5c-9a55-1c2b3a4d5e6f");
    EXPECT_EQ(manifest.pods[0].uid_line, 20);
    EXPECT_EQ(pod.priority, 1000);
    EXPECT_EQ(pod.phase, PodPhase::running);
    EXPECT_EQ(pod.termination_grace_period.count(), 45);
    EXPECT_EQ(pod.containers[0].requests.ephemeral_storage->value(), 1 << 30);
    EXPECT_EQ(pod.containers[1].requests.cpu->milli_value(), 500);
    EXPECT_TRUE(pod.init_containers[1].restartable);
    EXPECT_EQ(pod.overhead.memory->value(), 16 << 20);
    EXPECT_EQ(pod.source, "web.yaml");
    ASSERT_TRUE(pod.start_time && pod.creation_time);
    EXPECT_EQ(*pod.start_time - *pod.creation_time, std::chrono::seconds(5));
}

TEST(Manifest, ReadsAStaticPod) {
    const auto manifest = fixture("static.yaml");
    ASSERT_EQ(manifest.pods.size(), 1U);
    EXPECT_EQ(manifest.pods[0].pod->origin, PodOrigin::static_file);
    EXPECT_EQ(manifest.pods[0].pod->priority, 2'000'001'000);
}

TEST(Manifest, ReadsAPodListAsJson) {
    const auto manifest = fixture("list.json");
    ASSERT_TRUE(manifest.rejected.empty()) << manifest.rejected[0].text();
    ASSERT_EQ(manifest.pods.size(), 2U);
    EXPECT_EQ(manifest.pods[0].pod->annotations.at("note"), "a smile: \xf0\x9f\x98\x80");
    EXPECT_EQ(manifest.pods[1].pod->phase, PodPhase::failed);
    EXPECT_EQ(manifest.pods[1].uid_line, 11);
}

TEST(Manifest, TheFaultsOfAFileOfNonsenseAreLimited) {
    std::string nonsense = "kind: List\nitems:\n";
    for (int i = 0; i < 200'000; ++i) nonsense += "- a\n";
    const auto manifest = parse_manifest("list.yaml", nonsense, {});
    ASSERT_EQ(manifest.rejected.size(), 1000U);
    EXPECT_EQ(manifest.rejected.back().text(), "list.yaml: holds more than 1000 objects (split it into several files)");
}

TEST(Manifest, AFaultyPodIsNoPodHoweverOftenItIsNamed) {
    const auto manifest = parse_manifest("l.yaml",
                                         "kind: PodList\nitems:\n- &a {metadata: {name: a, uid: a}, spec: {priority: "
                                         "x, containers: [{name: c}]}}\n- *a\n",
                                         {});
    EXPECT_TRUE(manifest.pods.empty());
    ASSERT_EQ(manifest.rejected.size(), 1U);
    EXPECT_EQ(manifest.rejected[0].what, "l.yaml:3");
}

TEST(Manifest, WhatIsWrongInOneDocumentLeavesTheOthers) {
    const auto manifest = parse_manifest("pods.yaml",
                                         "kind: Pod\n"
                                         "metadata: {name: a, uid: a}\n"
                                         "spec:\n"
                                         "  containers:\n"
                                         "  - name: c\n"
                                         "    resources: {requests: {memory: lots}}\n"
                                         "---\n"
                                         "kind: Pod\n"
                                         "metadata: {name: b, uid: b}\n"
                                         "spec: {containers: [{name: c}]}\n"
                                         "---\n"
                                         "kind: Service\n"
                                         "---\n"
                                         "just text\n"
                                         "---\n"
                                         "kind: List\n"
                                         "items:\n"
                                         "- kind: Pod\n"
                                         "  metadata: {name: c, uid: c}\n"
                                         "  spec: {containers: [{name: c}]}\n"
                                         "- kind: Secret\n"
                                         "- kind: Pod\n"
                                         "  metadata: {name: d}\n"
                                         "  spec: {containers: [{name: c}]}\n",
                                         {});
    ASSERT_EQ(manifest.pods.size(), 2U);
    EXPECT_EQ(manifest.pods[0].pod->name, "b");
    EXPECT_EQ(manifest.pods[1].pod->name, "c");
    ASSERT_EQ(manifest.rejected.size(), 5U);
    EXPECT_EQ(manifest.rejected[0].what, "pods.yaml:6");
    EXPECT_EQ(manifest.rejected[0].why.substr(0, 46), "spec.containers[0].resources.requests.memory: ");
    EXPECT_EQ(manifest.rejected[0].kind, ErrorKind::invalid);
    EXPECT_EQ(manifest.rejected[1].what, "pods.yaml:12");
    EXPECT_EQ(manifest.rejected[1].why, "kind: unsupported kind \"Service\"");
    EXPECT_EQ(manifest.rejected[2].what, "pods.yaml:13");
    EXPECT_EQ(manifest.rejected[3].what, "pods.yaml:21");
    EXPECT_EQ(manifest.rejected[3].why, "items[1]: not a Pod");
    EXPECT_EQ(manifest.rejected[4].what, "pods.yaml:23");
    EXPECT_EQ(manifest.rejected[4].why, "items[2].metadata.uid: missing");
}

std::string names_in(const Manifest& manifest) {
    std::string all;
    for (const auto& each : manifest.pods) all += each.pod->name + ' ';
    return all;
}

std::string pod(const std::string& name, const std::string& more = "") {
    return "{kind: Pod, metadata: {name: " + name + ", uid: " + name + more + "}, spec: {containers: [{name: c}]}}\n";
}

TEST(Manifest, AKeyGivenTwiceCostsItsOwnObjectOnly) {
    const auto documents = parse_manifest("d.yaml", pod("a", ", uid: x") + "---\n" + pod("b") + "---\n" + pod("c"), {});
    EXPECT_EQ(names_in(documents), "b c ");
    ASSERT_EQ(documents.rejected.size(), 1U);
    EXPECT_EQ(documents.rejected[0].text().substr(0, 32), "d.yaml:1: metadata.uid: given tw");
    const auto list =
        parse_manifest("l.yaml", "kind: List\nitems:\n- " + pod("a", ", labels: {a: b, a: c}") + "- " + pod("b"), {});
    EXPECT_EQ(names_in(list), "b ");
    ASSERT_EQ(list.rejected.size(), 1U);
    EXPECT_EQ(list.rejected[0].what, "l.yaml:3");
}

TEST(Manifest, AListThatGivesItsOwnKeyTwiceIsRejectedWhole) {
    const std::string items = "items:\n- " + pod("a");
    const std::string other = "items:\n- " + pod("b");
    EXPECT_EQ(names_in(parse_manifest("l.yaml", "kind: List\n" + items + other, {})), "");
    EXPECT_EQ(names_in(parse_manifest("l.yaml", "kind: List\n<<: {x: 1}\n" + items + other, {})), "");
    const auto list = parse_manifest("l.yaml", "kind: List\nkind: PodList\n" + items, {});
    EXPECT_EQ(names_in(list), "");
    EXPECT_EQ(list.rejected.size(), 1U);
}

TEST(Manifest, KeysGivenTwiceAreReportedWithALimit) {
    std::string twice;
    for (int i = 0; i < 5'000; ++i) twice += "---\n{a: 1, a: 2, a: 3, a: 4}\n";
    EXPECT_LE(parse_manifest("t.yaml", twice, {}).rejected.size(), 1001U);
}

}  // namespace
}  // namespace evictd::kube

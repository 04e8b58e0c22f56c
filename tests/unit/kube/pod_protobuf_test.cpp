// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A Pod in protobuf is the Pod that its JSON is. The real encoder's bytes are compared in tests/kube/cases.
#include "kube/pod_protobuf.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "fakes/pod_lines.hpp"
#include "pod_objects.hpp"
#include "protobuf_bytes.hpp"

namespace evictd::kube {
namespace {

using proto::bytes;
using proto::entry;
using proto::number;
using proto::quantity;

const PodRules of_kubelet_too{.source = {}, .origin = {}, .status_from_kubelet = true};

std::string why_not(std::string_view message) {
    const auto document = read_protobuf_pod(message);
    return document ? "read" : document.error().why;
}

Pod decoded(const std::string& message) {
    auto document = read_protobuf_pod(message);
    EXPECT_TRUE(document) << why_not(message);
    if (!document) return {};
    document::Reading reading(std::move(*document), "test");
    auto pod = read_pod(reading.root(), of_kubelet_too);
    const auto faults = reading.take_faults();
    EXPECT_TRUE(pod) << (faults.empty() ? "" : faults.front().text());
    return pod.value_or(Pod{});
}

std::string whole_pod() {
    const auto metadata = bytes(1, "web") + bytes(2, "web-") + bytes(3, "shop") + bytes(5, "uid-1") + number(7, 4) +
                          bytes(8, number(1, 1767225600) + number(2, 0)) + bytes(9, number(1, 1767225660)) +
                          number(10, 7) + entry(11, "app", "x") + entry(12, "kubernetes.io/config.source", "file") +
                          entry(12, "controller.kubernetes.io/pod-deletion-cost", "5") +
                          bytes(13, bytes(1, "ReplicaSet") + bytes(3, "rs") + bytes(4, "u2") + bytes(5, "apps/v1") +
                                        number(6, 1) + number(7, 0)) +
                          bytes(17, "managed fields are skipped");
    const auto resources = quantity(1, "memory", "128Mi") + quantity(2, "memory", "64Mi") + quantity(2, "cpu", "500m");
    const auto container = bytes(1, "app") + bytes(2, "image") + bytes(8, resources);
    const auto sidecar = bytes(1, "mesh") + bytes(8, "") + bytes(24, "Always");
    const auto spec =
        bytes(1, bytes(1, "cache") + bytes(2, bytes(2, bytes(1, "Memory") + bytes(2, bytes(1, "1Gi"))))) +
        bytes(1, bytes(1, "host") + bytes(2, bytes(1, bytes(1, "/x")))) +
        bytes(1, bytes(1, "secret") + bytes(2, bytes(6, bytes(1, "s")))) + bytes(1, bytes(1, "none")) +
        bytes(2, container) + number(4, 12) + number(5, 600) + bytes(10, "n1") + bytes(20, sidecar) +
        bytes(22, bytes(1, "k") + bytes(2, "Exists") + bytes(3, "") + bytes(4, "NoExecute") + number(5, 30)) +
        bytes(24, "high") + number(25, -10) + quantity(32, "memory", "8Mi") + bytes(40, quantity(1, "memory", "1Gi"));
    const auto status =
        bytes(1, "Running") +
        bytes(2, bytes(1, "Ready") + bytes(2, "True") + bytes(3, "") + bytes(4, number(1, 1767225601))) +
        bytes(4, "Because") + bytes(7, number(1, 1767225602)) +
        bytes(8, bytes(1, "app") + number(5, 3) + bytes(8, "containerd://abc") + quantity(10, "memory", "80Mi")) +
        bytes(9, "Burstable") + bytes(10, bytes(1, "mesh") + number(5, 2) + bytes(8, "containerd://def")) +
        quantity(19, "memory", "96Mi");
    return bytes(1, metadata) + bytes(2, spec) + bytes(3, status);
}

json whole_json() {
    return json::parse(R"({"metadata": {"name": "web", "namespace": "shop", "uid": "uid-1", "generation": 4,
        "creationTimestamp": "2026-01-01T00:00:00Z", "deletionTimestamp": "2026-01-01T00:01:00Z",
        "deletionGracePeriodSeconds": 7, "annotations": {"kubernetes.io/config.source": "file",
        "controller.kubernetes.io/pod-deletion-cost": "5"},
        "ownerReferences": [{"kind": "ReplicaSet", "name": "rs", "uid": "u2", "controller": true, "blockOwnerDeletion": false}]},
      "spec": {"volumes": [{"name": "cache", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
          {"name": "host", "hostPath": {"path": "/x"}}, {"name": "secret", "secret": {"secretName": "s"}}, {"name": "none"}],
        "containers": [{"name": "app", "image": "image", "resources": {"limits": {"memory": "128Mi"}, "requests": {"memory": "64Mi", "cpu": "500m"}}}],
        "terminationGracePeriodSeconds": 12, "activeDeadlineSeconds": 600, "nodeName": "n1",
        "initContainers": [{"name": "mesh", "resources": {}, "restartPolicy": "Always"}],
        "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}],
        "priorityClassName": "high", "priority": -10, "overhead": {"memory": "8Mi"}, "resources": {"limits": {"memory": "1Gi"}}},
      "status": {"phase": "Running", "reason": "Because", "startTime": "2026-01-01T00:00:02Z", "qosClass": "Burstable",
        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:01Z"}],
        "containerStatuses": [{"name": "app", "restartCount": 3, "containerID": "containerd://abc", "allocatedResources": {"memory": "80Mi"}}],
        "initContainerStatuses": [{"name": "mesh", "restartCount": 2, "containerID": "containerd://def"}],
        "allocatedResources": {"memory": "96Mi"}}})");
}

std::string memory_of(const ResourceList& list) { return list.memory ? to_string(*list.memory) : "none"; }

// What the reader would find missing if a row of the tables were.
TEST(PodProtobuf, EachFieldIsTheOneOfItsJson) {
    const Pod pod = decoded(whole_pod());
    const auto other = pod_from_json(whole_json(), of_kubelet_too);
    ASSERT_TRUE(other) << other.error().text();
    EXPECT_EQ(fakes::lines_of(pod), fakes::lines_of(*other));
    EXPECT_EQ(pod.full_name(), "shop/web");
    EXPECT_EQ(pod.origin, PodOrigin::static_file);
    EXPECT_EQ(memory_of(pod.containers.at(0).requests), "80Mi");
    EXPECT_EQ(memory_of(pod.requests), "96Mi");
    EXPECT_EQ(pod.priority, -10);
    EXPECT_EQ(pod.volumes.at(2).kind, VolumeKind::other) << "a source that is not known here";
    EXPECT_EQ(pod.volumes.at(3).kind, VolumeKind::empty_dir) << "none at all";
    EXPECT_TRUE(pod.init_containers.at(0).restartable);
    EXPECT_EQ(pod.restarts, 3);
    EXPECT_TRUE(pod.deletion_time);
}

TEST(PodProtobuf, ZeroTimesAndEmptyTextsAreAbsent) {
    const Pod pod = decoded(proto::pod("a"));
    EXPECT_FALSE(pod.creation_time);
    EXPECT_FALSE(pod.deletion_time);
    EXPECT_EQ(pod.phase, PodPhase::running);
    EXPECT_EQ(pod.origin, PodOrigin::api);
}

TEST(PodProtobuf, EachTruncationIsAnError) {
    const auto message = whole_pod();
    std::size_t read = 0;
    for (std::size_t size = 0; size < message.size(); size++)
        read += why_not(message.substr(0, size)) == "read" ? 1U : 0U;
    EXPECT_EQ(read, 3U) << "before each of its three fields";
}

TEST(PodProtobuf, WhatNoEncoderSendsIsRefused) {
    EXPECT_EQ(why_not(bytes(1, number(1, 5))), "name has another type");
    EXPECT_EQ(why_not(bytes(2, bytes(4, "12"))), "terminationGracePeriodSeconds has another type");
    EXPECT_EQ(why_not(bytes(1, bytes(1, "a") + bytes(1, "b"))), "name is given twice");
    EXPECT_EQ(why_not(bytes(1, "") + bytes(1, "")), "metadata is given twice");
    EXPECT_EQ(why_not(bytes(1, bytes(8, number(1, std::numeric_limits<std::int64_t>::max())))),
              "has a time that is none");
    EXPECT_EQ(why_not(bytes(1, bytes(12, number(1, 1)))), "a text has another type");
    EXPECT_EQ(why_not(bytes(2, std::string(200'000, '\x0f'))), "has an invalid wire type");
    std::string empty_containers;
    for (int i = 0; i < 40'000; i++) empty_containers += bytes(2, "");
    EXPECT_EQ(why_not(bytes(2, empty_containers)), "has more values than a Pod");
    EXPECT_EQ(why_not(bytes(1, entry(12, "k", std::string(600'000, 'x')))), "has more values than a Pod");
}

TEST(PodProtobuf, LaterFieldsAreSkipped) {
    const Pod pod = decoded(whole_pod() + bytes(99, "later") + number(98, 1));
    EXPECT_EQ(fakes::lines_of(pod), fakes::lines_of(decoded(whole_pod())));
}

TEST(PodProtobuf, TheHeadIsReadOfWhateverIsThere) {
    const auto message = whole_pod();
    const auto head = protobuf_head_of(message.substr(0, 60));
    EXPECT_EQ(head.name, "shop/web");
    EXPECT_EQ(head.uid, "uid-1");
    EXPECT_EQ(protobuf_head_of("").uid, "");
    EXPECT_EQ(protobuf_head_of("\xff\xff").uid, "");
}

}  // namespace
}  // namespace evictd::kube

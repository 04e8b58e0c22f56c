// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is read of a runtime's answers: zeros that are left out, what is not known here, and what is wrong.
#include "cri/messages.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/protobuf_bytes.hpp"

namespace evictd::cri {
namespace {

using proto::bytes;
using proto::entry;
using proto::number;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t at = 1'700'000'000'000'000'000;
const WallTime wall{Duration(at)};

std::string sandbox_fields() {
    return bytes(1, "s1") + bytes(2, bytes(1, "web") + bytes(2, "uid-1") + bytes(3, "default") + number(4, 2)) +
           number(4, at) + entry(5, "app", "web") + entry(5, "io.kubernetes.pod.uid", "uid-1") + entry(6, "note", "") +
           entry(6, "kubernetes.io/config.source", "api") + bytes(7, "kata");
}

std::string container_fields() {
    return bytes(1, "c1") + bytes(2, "s1") + bytes(3, bytes(1, "main") + number(2, 3)) +
           bytes(4, bytes(1, "localhost/busybox:1")) + bytes(5, "sha256:ref") + number(7, at) +
           entry(8, "io.kubernetes.pod.uid", "uid-1") + bytes(10, "sha256:id");
}

TEST(Messages, ASandboxIsReadyUnlessItSaysOtherwise) {
    const auto all = read_sandboxes(bytes(1, sandbox_fields()) + bytes(1, sandbox_fields() + number(3, 1)) +
                                    bytes(1, sandbox_fields() + number(3, 7)));
    ASSERT_TRUE(all) << all.error().text();
    ASSERT_EQ(all->size(), 3U);
    const auto& first = all->front();
    EXPECT_EQ(first.id, "s1");
    EXPECT_EQ(first.name, "web");
    EXPECT_EQ(first.pod, "uid-1");
    EXPECT_EQ(first.namespace_name, "default");
    EXPECT_EQ(first.attempt, 2U);
    EXPECT_EQ(first.created, wall);
    EXPECT_EQ(first.handler, "kata");
    EXPECT_EQ(first.labels, (RuntimeLabels{{"io.kubernetes.pod.uid", "uid-1"}})) << "those that are used";
    EXPECT_EQ(first.annotations, (RuntimeLabels{{"kubernetes.io/config.source", "api"}}));
    EXPECT_TRUE(first.ready);
    EXPECT_FALSE(all->at(1).ready);
    EXPECT_TRUE(all->at(2).ready) << "a state that is not known here is taken for one that is alive";
}

TEST(Messages, AContainerIsCreatedUnlessItSaysOtherwise) {
    std::string message;
    for (const int state : {0, 1, 2, 3, 4}) {
        message += bytes(1, container_fields() + (state == 0 ? "" : number(6, state)));
    }
    const auto all = read_containers(message);
    ASSERT_TRUE(all) << all.error().text();
    std::vector<ContainerState> states;
    for (const auto& container : *all) states.push_back(container.state);
    EXPECT_THAT(states, ElementsAre(ContainerState::created, ContainerState::running, ContainerState::exited,
                                    ContainerState::unknown, ContainerState::running));
    const auto& first = all->front();
    EXPECT_EQ(first.id, "c1");
    EXPECT_EQ(first.sandbox, "s1");
    EXPECT_EQ(first.name, "main");
    EXPECT_EQ(first.attempt, 3U);
    EXPECT_EQ(first.image, "localhost/busybox:1");
    EXPECT_EQ(first.image_ref, "sha256:ref");
    EXPECT_EQ(first.image_id, "sha256:id");
    EXPECT_EQ(first.pod, "uid-1");
    EXPECT_EQ(first.created, wall);
}

TEST(Messages, AnImage) {
    const auto images =
        read_images(bytes(1, bytes(1, "sha256:a") + bytes(2, "a:1") + bytes(2, "a:2") + bytes(3, "a@sha256:d") +
                                 number(4, 123) + bytes(7, bytes(1, "sha256:a")) + number(8, 1)) +
                    bytes(1, bytes(1, "sha256:b")));
    ASSERT_TRUE(images) << images.error().text();
    ASSERT_EQ(images->size(), 2U);
    EXPECT_THAT(images->front().tags, ElementsAre("a:1", "a:2"));
    EXPECT_THAT(images->front().digests, ElementsAre("a@sha256:d"));
    EXPECT_EQ(images->front().size, 123_B);
    EXPECT_EQ(images->front().spec, "sha256:a");
    EXPECT_TRUE(images->front().pinned);
    EXPECT_FALSE(images->back().pinned);
    EXPECT_THAT(images->back().tags, IsEmpty());
}

std::string usage(std::int64_t time, std::int64_t used) {
    return (time == 0 ? "" : number(1, time)) + bytes(2, bytes(1, "/var/lib/x")) +
           bytes(3, used == 0 ? "" : number(1, used)) + bytes(4, number(1, 7));
}

// Anybody may push one. It must not keep the others from being collected.
TEST(Messages, AnImageWithMoreNamesThanAreKeptIsKept) {
    std::string fields = bytes(1, "sha256:a");
    for (int i = 0; i < 1000; i++) fields += bytes(2, "r/a:" + std::to_string(i));
    const auto most = read_images(bytes(1, fields));
    ASSERT_TRUE(most) << most.error().text();
    EXPECT_FALSE(most->front().pinned);
    const auto more = read_images(bytes(1, fields + bytes(2, "r/a:more") + bytes(3, "r/a@sha256:b")) +
                                  bytes(1, bytes(1, "sha256:c")));
    ASSERT_TRUE(more) << more.error().text();
    EXPECT_TRUE(more->front().pinned);
    EXPECT_EQ(more->front().tags.size(), 1000U);
    EXPECT_EQ(more->front().digests.size(), 1U);
    EXPECT_FALSE(more->back().pinned);
}

TEST(Messages, ALayerThatWasNotMeasuredYetIsNotEmpty) {
    const auto attributes = [](const std::string& id) { return bytes(1, bytes(1, id) + bytes(2, bytes(1, "main"))); };
    const auto layers =
        read_layers(bytes(1, attributes("measured") + bytes(4, usage(at, 4096))) +
                    bytes(1, attributes("empty") + bytes(4, usage(at, 0))) +
                    bytes(1, attributes("not_yet") + bytes(4, usage(0, 0))) + bytes(1, attributes("no_layer")) +
                    bytes(1, attributes("unknown") + bytes(4, number(1, at))));
    ASSERT_TRUE(layers) << layers.error().text();
    ASSERT_EQ(layers->size(), 2U);
    EXPECT_EQ(layers->front().id, "measured");
    EXPECT_EQ(layers->front().layer->used, 4096_B);
    EXPECT_EQ(layers->front().layer->inodes, 7);
    EXPECT_EQ(layers->front().layer->at, wall);
    EXPECT_EQ(layers->back().id, "empty");
    EXPECT_EQ(layers->back().layer->used, 0_B);
}

TEST(Messages, FilesystemsVersionAndConditions) {
    const auto filesystems = read_filesystems(bytes(1, usage(at, 5)) + bytes(2, usage(at, 6)));
    ASSERT_TRUE(filesystems);
    EXPECT_EQ(filesystems->images.at(0).directory, "/var/lib/x");
    EXPECT_EQ(filesystems->images.at(0).usage.used, 5_B);
    EXPECT_EQ(filesystems->containers.at(0).usage.used, 6_B);
    const auto version = read_version(bytes(2, "containerd") + bytes(3, "1.6.20") + bytes(4, "v1"));
    ASSERT_TRUE(version);
    EXPECT_EQ(version->name + " " + version->version + " " + version->api, "containerd 1.6.20 v1");
    EXPECT_FALSE(read_version(""));
    const auto conditions =
        read_conditions(bytes(1, bytes(1, bytes(1, "RuntimeReady") + number(2, 1)) +
                                     bytes(1, bytes(1, "NetworkReady") + bytes(3, "NoCNI") + bytes(4, "no plugin"))));
    ASSERT_TRUE(conditions);
    ASSERT_EQ(conditions->size(), 2U);
    EXPECT_TRUE(conditions->front().status);
    EXPECT_FALSE(conditions->back().status) << "false is left out";
    EXPECT_EQ(conditions->back().reason, "NoCNI");
}

TEST(Messages, TheSandboxesImageIsInTheConfiguration) {
    const auto image = [](const std::string& config) { return read_sandbox_image(entry(2, "config", config)); };
    EXPECT_EQ(image(R"({"sandboxImage":"localhost/pause:1","other":{}})"), "localhost/pause:1");
    EXPECT_EQ(image("{}"), "") << "a runtime that does not say";
    for (const std::string config : {"", "{", "[]", R"({"sandboxImage":7})"}) EXPECT_FALSE(image(config)) << config;
    EXPECT_EQ(read_sandbox_image(""), "") << "a runtime that does not say";
    EXPECT_FALSE(read_sandbox_image("\x12\x7f"));
}

TEST(Messages, TheImageOfASandboxIsInItsInfo) {
    const auto image = [](const std::string& info) { return read_image_of_sandbox(entry(2, "info", info)); };
    EXPECT_EQ(image(R"({"image":"docker.io/library/pause:1","pid":7})"), "docker.io/library/pause:1");
    EXPECT_EQ(image("{}"), "") << "a runtime that does not say";
    EXPECT_FALSE(image("["));
    EXPECT_FALSE(image(R"({"image":[]})"));
}

TEST(Messages, ImagesThatAContainerHasMounted) {
    const auto volume = [](const std::string& image) {
        return bytes(14, bytes(1, "/vol") + bytes(9, bytes(1, image)));
    };
    const auto status = bytes(1, bytes(1, "c1") + volume("localhost/spare:1") +
                                     bytes(14, bytes(1, "/data") + bytes(2, "/d")) + volume("sha256:a"));
    const auto images = read_image_volumes(status);
    ASSERT_TRUE(images) << images.error().text();
    EXPECT_THAT(*images, ElementsAre("localhost/spare:1", "sha256:a"));
    EXPECT_THAT(*read_image_volumes(bytes(1, bytes(1, "c1"))), IsEmpty());
    EXPECT_FALSE(read_image_volumes(bytes(1, number(14, 1))));
}

TEST(Messages, AContainersStatus) {
    const auto status = bytes(1, "c1") + bytes(2, bytes(1, "main")) + number(3, 2) + number(4, at) + number(5, at) +
                        number(6, at + 1) + number(7, 137) + bytes(10, "Error") + bytes(15, "/logs/0.log");
    const auto info =
        entry(2, "info", R"({"sandboxID":"s1","pid":42,"runtimeSpec":{"linux":{"cgroupsPath":"/kubepods/podx/c1"}}})");
    const auto details = read_container(bytes(1, status) + info);
    ASSERT_TRUE(details) << details.error().text();
    EXPECT_EQ(details->container.state, ContainerState::exited);
    EXPECT_EQ(details->container.sandbox, "s1");
    EXPECT_EQ(details->started, wall);
    EXPECT_EQ(details->finished, wall + Duration(1));
    EXPECT_EQ(details->exit_code, 137);
    EXPECT_EQ(details->reason, "Error");
    EXPECT_EQ(details->log_path, "/logs/0.log");
    EXPECT_EQ(details->pid, 42);
    EXPECT_EQ(details->cgroup, "/kubepods/podx/c1");
}

TEST(Messages, OfInfoThatIsNoneNothingIsKnown) {
    const auto status = bytes(1, bytes(1, "c1"));
    for (const std::string info : {"", "{", "[]", "7", R"({"pid":"x","runtimeSpec":[]})",
                                   R"({"pid":-1,"runtimeSpec":{"linux":{"cgroupsPath":7}}})",
                                   R"({"runtimeSpec":{"linux":{"cgroupsPath":"/a/../../b"}}})"}) {
        const auto details = read_container(status + entry(2, "info", info));
        ASSERT_TRUE(details) << info;
        EXPECT_EQ(details->pid, 0) << info;
        EXPECT_EQ(details->cgroup, "") << info;
        EXPECT_FALSE(details->started);
        EXPECT_FALSE(details->finished);
    }
    EXPECT_FALSE(read_container("")) << "no status";
}

TEST(Messages, ASandboxesStatusSaysWhatIsTheHosts) {
    const auto options = number(1, 2) + number(3, 1);  // network: NODE, pid: POD (left out), ipc: CONTAINER
    const auto status = bytes(1, "s1") + bytes(5, bytes(1, "10.88.0.1")) + bytes(6, bytes(1, bytes(2, options)));
    const auto details = read_sandbox(bytes(1, status));
    ASSERT_TRUE(details) << details.error().text();
    EXPECT_TRUE(details->host_network);
    EXPECT_FALSE(details->host_pid);
    EXPECT_FALSE(details->host_ipc);
    EXPECT_EQ(details->address, "10.88.0.1");
    EXPECT_TRUE(details->sandbox.ready);
    EXPECT_FALSE(read_sandbox(""));
}

TEST(Messages, WhatIsNotKnownHereIsPassedOver) {
    const auto more = number(900, 1) + bytes(901, "x") + proto::varint(902U << 3U | 5U) + "1234";
    const auto all = read_containers(bytes(1, container_fields() + more) + more);
    ASSERT_TRUE(all) << all.error().text();
    EXPECT_EQ(all->size(), 1U);
}

TEST(Messages, AnEntryWithoutAnIdMakesTheListInvalid) {
    const auto good = bytes(1, container_fields());
    for (const auto& bad :
         {std::string(), bytes(1, ""), bytes(1, "a b") + bytes(2, "s1"), bytes(1, "a\n") + bytes(2, "s1"),
          bytes(1, std::string(257, 'a')) + bytes(2, "s1"), bytes(1, "c2")}) {
        EXPECT_FALSE(read_containers(good + bytes(1, bad)));
    }
    EXPECT_FALSE(read_sandboxes(bytes(1, bytes(7, "x"))));
    EXPECT_FALSE(read_images(bytes(1, bytes(2, "a:1"))));
    EXPECT_FALSE(read_layers(bytes(1, bytes(4, usage(at, 1)))));
}

TEST(Messages, AListHasSoManyElements) {
    std::string message;
    for (std::size_t i = 0; i < most_elements; i++) message += bytes(1, bytes(1, "i"));
    EXPECT_TRUE(read_images(message));
    const auto larger = read_images(message + bytes(1, bytes(1, "i")));
    ASSERT_FALSE(larger);
    EXPECT_EQ(larger.error().kind, ErrorKind::invalid);
    EXPECT_EQ(larger.error().why, "the list has more than 50000 entries");
}

TEST(Messages, ATypeThatIsNotTheFieldsMakesItInvalid) {
    EXPECT_FALSE(read_containers(number(1, 5)));
    EXPECT_FALSE(read_containers(bytes(1, container_fields() + number(1, 5))));
    EXPECT_FALSE(read_containers(bytes(1, container_fields() + bytes(6, "2"))));
    EXPECT_FALSE(read_containers(bytes(1, container_fields() + number(8, 1))));
    EXPECT_FALSE(read_images(bytes(1, bytes(1, "a") + bytes(4, "1"))));
}

TEST(Messages, ASizeIsNeitherNegativeNorBeyondAnyDisk) {
    EXPECT_FALSE(read_images(bytes(1, bytes(1, "a") + number(4, -1))));
    EXPECT_FALSE(read_filesystems(bytes(1, bytes(3, number(1, -1)))));
    EXPECT_TRUE(read_images(bytes(1, bytes(1, "a") + number(4, std::int64_t{1} << 60U))));
}

TEST(Messages, WhatIsNoTimeIs1970) {
    for (const std::int64_t time : {std::int64_t{-6795364578871345152}, std::int64_t{-1}, INT64_MAX}) {
        const auto all = read_sandboxes(bytes(1, bytes(1, "s1") + number(4, time)));
        ASSERT_TRUE(all);
        EXPECT_EQ(all->front().created, WallTime{}) << time;
    }
}

TEST(Messages, EachTruncationIsAnErrorOrAShorterList) {
    const auto message = bytes(1, container_fields()) + bytes(1, container_fields());
    const auto half = message.size() / 2;
    for (std::size_t size = 0; size < message.size(); size++) {
        const auto all = read_containers(message.substr(0, size));
        EXPECT_EQ(all.has_value(), size == 0 || size == half) << size;
        if (!all) {
            EXPECT_EQ(all.error().kind, ErrorKind::invalid);
        }
    }
}

}  // namespace
}  // namespace evictd::cri

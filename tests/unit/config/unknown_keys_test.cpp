// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is suggested for a key that is not known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.hpp"
#include "faults.hpp"

namespace evictd::config {
namespace {

struct Case {
    std::string yaml;
    std::string fault;
};

std::vector<std::string> faults_in(const std::string& yaml) { return faults_of(load(yaml, "f.yaml")); }

TEST(UnknownKeys, AKeyOfAnotherLevelNamesItsLevel) {
    const std::vector<Case> rows{
        {"evictd: {cgroupRoot: /}", "evictd.cgroupRoot: unknown key (cgroupRoot is a top-level key)"},
        {"evictd: {eventLog: {kind: x}}", "evictd.eventLog.kind: unknown key (kind is a top-level key)"},
        {"nodeName: x", "nodeName: unknown key (nodeName belongs under evictd:)"},
        {"ladder: {freeze: true}", "ladder: unknown key (ladder belongs under evictd:)"},
        {"freeze: true", "freeze: unknown key (freeze belongs under evictd.ladder:)"},
        {"evictd: {freeze: true}", "evictd.freeze: unknown key (freeze belongs under evictd.ladder:)"},
    };
    for (const Case& row : rows) EXPECT_THAT(faults_in(row.yaml), testing::ElementsAre("f.yaml:1: " + row.fault));
}

TEST(UnknownKeys, OnlyASlipIsCorrected) {
    const std::vector<Case> rows{
        {"evictd: {foo: 1}", "evictd.foo: unknown key (evictd.example.yaml has all settings)"},
        {"evictd: {ladder: {foo: 1}}", "evictd.ladder.foo: unknown key (evictd.example.yaml has all settings)"},
        {"evictd: {lader: {freeze: true}}", "evictd.lader: unknown key (did you mean evictd.ladder?)"},
        {"evictd: {sockets: {shedPod: 1}}",
         "evictd.sockets.shedPod: unknown key (did you mean evictd.sockets.shedPods?)"},
        {"evictonHard: {}", "evictonHard: unknown key (did you mean evictionHard?)"},
        {"systemReserved: {hugepages: 1}",
         "systemReserved.hugepages: cannot reserve \"hugepages\" resource (expected cpu, memory, ephemeral-storage or "
         "pid)"},
        {"evictionHard: {swap: 1Gi}",
         "evictionHard.swap: unsupported eviction signal swap (expected memory.available, allocatableMemory.available, "
         "nodefs.available, nodefs.inodesFree, imagefs.available, imagefs.inodesFree, containerfs.available, "
         "containerfs.inodesFree, pid.available or allocatableNodeFs.available)"},
    };
    for (const Case& row : rows) EXPECT_THAT(faults_in(row.yaml), testing::ElementsAre("f.yaml:1: " + row.fault));
}

TEST(UnknownKeys, ForeignKeysAreTheKubeletsOnly) {
    EXPECT_THAT(faults_in("maxPods: 110\n"),
                testing::ElementsAre(
                    "f.yaml:1: maxPods: unknown key (other kubelet keys are ignored with kind: KubeletConfiguration)"));
    EXPECT_TRUE(load("kind: KubeletConfiguration\nmaxPods: 110\n", "f.yaml"));
    EXPECT_TRUE(load("maxPods: 110\n", "f.yaml", Dialect::kubelet));
    EXPECT_THAT(faults_in("kind: KubeletConfiguration\nevictd: {nodename: x}\n"),
                testing::ElementsAre("f.yaml:2: evictd.nodename: unknown key (did you mean evictd.nodeName?)"));
}

}  // namespace
}  // namespace evictd::config

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Who is let in under which conditions, in one table, and what the others are told.
#include "admission.hpp"

#include <gtest/gtest.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

constexpr Condition memory = Condition::memory_pressure;
constexpr Condition disk = Condition::disk_pressure;
constexpr Condition pid = Condition::pid_pressure;

Pod best_effort(PodOrigin origin = PodOrigin::api, std::optional<std::int32_t> priority = std::nullopt) {
    return *pod({.name = "a", .priority = priority, .origin = origin}).pod;
}
Pod burstable() { return *pod({.name = "a", .request = 1_MiB}).pod; }
Pod guaranteed() {
    Pod pod = burstable();
    pod.containers[0].requests.cpu = Quantity::of(1);
    pod.containers[0].limits = pod.containers[0].requests;
    return pod;
}
Pod tolerating(const Toleration& toleration) {
    Pod pod = best_effort();
    pod.tolerations = {{"other", "Exists", "", "", {}}, toleration};
    return pod;
}

struct AdmissionRow {
    const char* rule;
    Pod pod;
    std::vector<Condition> conditions;
    bool allowed;
};

TEST(Admission, FollowsAdmit) {
    const std::string key = "node.kubernetes.io/memory-pressure";
    const std::vector<AdmissionRow> rows{
        {"without a condition everybody comes in", best_effort(), {}, true},
        {"memory pressure keeps BestEffort out", best_effort(), {memory}, false},
        {"memory pressure lets Burstable in", burstable(), {memory}, true},
        {"memory pressure lets Guaranteed in", guaranteed(), {memory}, true},
        {"disk pressure keeps Burstable out", burstable(), {disk}, false},
        {"disk pressure keeps Guaranteed out", guaranteed(), {disk}, false},
        {"PID pressure keeps Guaranteed out", guaranteed(), {pid}, false},
        {"memory with disk pressure keeps Burstable out", burstable(), {memory, disk}, false},
        {"disk with memory pressure keeps Burstable out", burstable(), {disk, memory}, false},
        {"memory with PID pressure keeps Guaranteed out", guaranteed(), {memory, pid}, false},
        {"a static pod comes in", best_effort(PodOrigin::static_file), {memory, disk, pid}, true},
        {"a mirror pod comes in", best_effort(PodOrigin::mirror), {disk}, true},
        {"a pod of system priority comes in", best_effort(PodOrigin::api, 2'000'000'000), {disk}, true},
        {"a pod just below it does not", best_effort(PodOrigin::api, 1'999'999'999), {memory}, false},
        {"the taint's toleration lets BestEffort in",
         tolerating({key, "Exists", "", "NoSchedule", {}}),
         {memory},
         true},
        {"for every effect too", tolerating({key, "Exists", "", "", {}}), {memory}, true},
        {"for every key too", tolerating({"", "Exists", "", "NoSchedule", {}}), {memory}, true},
        {"by the empty value too", tolerating({key, "Equal", "", "NoSchedule", {}}), {memory}, true},
        {"but not by another value", tolerating({key, "Equal", "yes", "NoSchedule", {}}), {memory}, false},
        {"nor for another effect", tolerating({key, "Exists", "", "NoExecute", {}}), {memory}, false},
        {"nor for another taint",
         tolerating({"node.kubernetes.io/disk-pressure", "Exists", "", "NoSchedule", {}}),
         {memory},
         false},
        {"no toleration helps against disk pressure", tolerating({"", "Exists", "", "", {}}), {disk}, false},
        {"nor against memory and disk pressure", tolerating({"", "Exists", "", "", {}}), {memory, disk}, false},
    };
    for (const auto& row : rows) {
        const Admission admission = admit(row.pod, row.conditions);
        EXPECT_EQ(admission.allowed, row.allowed) << row.rule;
        EXPECT_EQ(admission.reason, row.allowed ? "" : "Evicted") << row.rule;
        EXPECT_EQ(admission.message.empty(), row.allowed) << row.rule;
    }
}

TEST(Admission, TheMessageListsTheConditionsInTheirOrderAndKeepsItsBlank) {
    EXPECT_EQ(admit(best_effort(), {memory}).message, "The node had condition: [MemoryPressure]. ");
    EXPECT_EQ(admit(best_effort(), {memory, disk}).message, "The node had condition: [MemoryPressure DiskPressure]. ");
    EXPECT_EQ(admit(best_effort(), {pid, disk, memory}).message,
              "The node had condition: [PIDPressure DiskPressure MemoryPressure]. ");
}

}  // namespace
}  // namespace evictd::policy::testing

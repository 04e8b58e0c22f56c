// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd.psi: what is read, and what is refused and how.
#include "config/stall_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/describe.hpp"
#include "config/load.hpp"

namespace evictd::config {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

std::string stall_fault(const std::string& item) {
    const auto config = load("evictd: {psi: [" + item + "]}", "f.yaml");
    return config ? "" : config.error().front().text();
}

TEST(StallSettings, NoneIsTheDefault) {
    EXPECT_THAT(load("", "f").value().eviction.stalls, IsEmpty());
    EXPECT_THAT(load("evictd: {psi: }", "f").value().eviction.stalls, IsEmpty());
    EXPECT_FALSE(load("", "f").value().eviction.confirm_pressure);
}

TEST(StallSettings, EveryKeyIsRead) {
    const auto config = load(
        "evictd:\n  confirmPressure: true\n  psi:\n"
        "  - {resource: io, kind: full, scope: node, share: 0.5%, window: 10s, gracePeriod: 30s}\n"
        "  - {resource: memory, kind: some, scope: pod, share: 100%, window: 100ms}\n",
        "f.yaml");
    ASSERT_TRUE(config) << config.error().front().text();
    const std::vector<StallThreshold> wanted{
        {StallResource::io, StallKind::full, StallScope::node, StallWindow::ten_seconds, 50, 30s},
        {StallResource::memory, StallKind::some, StallScope::pod, StallWindow::tenth, 10'000, 0s}};
    EXPECT_EQ(config->eviction.stalls, wanted);
    EXPECT_TRUE(config->eviction.confirm_pressure);
    EXPECT_THAT(describe(*config, false),
                HasSubstr("io full >= 0.50% of 10s, soft after 30s; memory some >= 100% of 100ms in a pod, hard"));
}

TEST(StallSettings, TheDefaultIsMemorySomeOfASecondOnTheNode) {
    const auto config = load("evictd: {psi: [{share: 40%}]}", "f.yaml");
    ASSERT_TRUE(config);
    EXPECT_EQ(config->eviction.stalls, (std::vector<StallThreshold>{{.share = 4'000}}));
}

TEST(StallSettings, WhatCannotBeIsRefusedWithItsKeyAndWhatWouldBeRight) {
    EXPECT_THAT(stall_fault("{share: 0%}"),
                HasSubstr("evictd.psi[0].share: out of range: 0% (0.01% to 100% of the window)"));
    EXPECT_THAT(stall_fault("{share: 101%}"), HasSubstr("out of range"));
    EXPECT_THAT(stall_fault("{share: 10}"),
                HasSubstr("invalid share \"10\" (expected a percentage such as 10% or 0.5%)"));
    EXPECT_THAT(stall_fault("{share: -5%}"), HasSubstr("out of range"));
    EXPECT_THAT(stall_fault("{share: nan%}"), HasSubstr("out of range"));
    EXPECT_THAT(stall_fault("{share: 1e300%}"), HasSubstr("invalid share"));
    EXPECT_THAT(stall_fault("{window: 1s}"), HasSubstr("share is missing"));
    EXPECT_THAT(stall_fault("{share: 10%, window: 2s}"), HasSubstr("invalid value \"2s\" (expected 100ms, 1s or 10s)"));
    EXPECT_THAT(stall_fault("{share: 10%, resource: disk}"), HasSubstr("expected memory, io or cpu"));
    EXPECT_THAT(stall_fault("{share: 10%, gracePeriod: 2h}"), HasSubstr("0s (hard) to 1h"));
    EXPECT_THAT(stall_fault("{share: 10%, graceperiod: 2s}"), HasSubstr("did you mean gracePeriod?"));
    EXPECT_THAT(stall_fault("{share: 10%, scope: pod, kind: full}"), IsEmpty());
    EXPECT_THAT(stall_fault("{share: 10%, scope: pod, resource: io}"), HasSubstr("pods are watched for memory only"));
    EXPECT_THAT(stall_fault("{share: 10%}, {share: 10%}"), HasSubstr("duplicate threshold"));
    EXPECT_THAT(stall_fault("10%"), HasSubstr("expected a map"));
    std::string many = "{share: 1%}";
    for (int i = 2; i <= 16; ++i) many += ", {share: " + std::to_string(i) + "%}";
    EXPECT_THAT(stall_fault(many), HasSubstr("16 thresholds (at most 15)"));
}

}  // namespace
}  // namespace evictd::config

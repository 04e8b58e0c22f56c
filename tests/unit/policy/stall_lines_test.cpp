// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "policy/stall_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StallLines, AreThoseOfSomeOfMemoryOnceEach) {
    EvictionConfig config;
    config.stalls = {{.share = 1'000},
                     {.share = 1'000, .grace_period = 5s},
                     {.kind = StallKind::full, .share = 500},
                     {.resource = StallResource::io, .share = 500},
                     {.scope = StallScope::pod, .window = StallWindow::tenth, .share = 5'000}};
    EXPECT_THAT(stall_lines_for(config), ElementsAre(StallLine{StallScope::node, StallWindow::second, 100ms},
                                                     StallLine{StallScope::pod, StallWindow::tenth, 50ms}));
}

TEST(StallLines, ConfirmingPressureTakesOne) {
    EvictionConfig config;
    EXPECT_THAT(stall_lines_for(config), IsEmpty());
    config.confirm_pressure = true;
    EXPECT_THAT(stall_lines_for(config), ElementsAre(StallLine{StallScope::node, StallWindow::tenth, 25ms}));
}

TEST(StallLooks, AreTakenOnlyForWhatTheKernelDoesNotWatch) {
    EvictionConfig config;
    config.stalls = {{.share = 1'000}};
    EXPECT_EQ(look_for_stalls(config, true), std::nullopt);
    EXPECT_EQ(look_for_stalls(config, false), 250ms);
    config.stalls.push_back({.resource = StallResource::io, .window = StallWindow::ten_seconds, .share = 1'000});
    EXPECT_EQ(look_for_stalls(config, true), 1s);
    config.stalls.push_back({.kind = StallKind::full, .scope = StallScope::pod, .share = 1'000});
    EXPECT_EQ(look_for_stalls(config, true), 250ms) << "no kernel tells of a pod's full";
    config.stalls.push_back({.kind = StallKind::full, .window = StallWindow::tenth, .share = 1'000});
    EXPECT_EQ(look_for_stalls(config, true), 100ms);
}

}  // namespace
}  // namespace evictd::policy

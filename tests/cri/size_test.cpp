// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How long the lists of a large node take: 500 containers (created, not started) in 10 sandboxes. A measurement, so not
// run with the tests: it takes minutes to make them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime_fixture.hpp"

namespace evictd::cri_test {
namespace {

using Clock = std::chrono::steady_clock;

struct SizeTest : RuntimeFixture {
    static double milliseconds(Clock::duration duration) {
        return std::chrono::duration<double, std::milli>(duration).count();
    }
};

TEST_F(SizeTest, DISABLED_ListsOfALargeNode) {
    constexpr int pods = 10;
    constexpr int containers = 500;
    for (int pod = 0; pod < pods; pod++) {
        const auto id = make_pod("size" + std::to_string(pod));
        for (int i = 0; i < containers / pods; i++) (void)make_container(id, "c" + std::to_string(i), {"true"});
    }
    std::vector<double> taken;
    std::size_t found = 0;
    std::size_t images = 0;
    for (int round = 0; round < 21; round++) {
        const auto begin = Clock::now();
        const auto all = runtime->containers();
        const auto sandboxes = runtime->sandboxes();
        const auto all_images = runtime->images();
        taken.push_back(milliseconds(Clock::now() - begin));
        ASSERT_TRUE(all && sandboxes && all_images);
        found = all->size();
        images = all_images->size();
    }
    std::sort(taken.begin(), taken.end());
    const auto begin = Clock::now();
    const auto layers = runtime->layers();
    ASSERT_TRUE(layers);
    std::printf("%zu containers, %zu images listed: median %.1f ms, most %.1f ms; %zu layers: %.1f ms\n", found, images,
                taken[taken.size() / 2], taken.back(), layers->size(), milliseconds(Clock::now() - begin));
    EXPECT_GE(found, static_cast<std::size_t>(containers));
}

}  // namespace
}  // namespace evictd::cri_test

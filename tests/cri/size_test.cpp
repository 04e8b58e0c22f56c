// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How long the lists of a large node take: 500 containers (created, not started) in 10 sandboxes, and 200 images more
// than there are; and to ask about their image volumes. A measurement, so not run with the tests: it takes minutes to
// make them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fakes/temp_dir.hpp"
#include "runtime_fixture.hpp"

namespace evictd::cri_test {
namespace {

using Clock = std::chrono::steady_clock;

struct SizeTest : RuntimeFixture {
    static double milliseconds(Clock::duration duration) {
        return std::chrono::duration<double, std::milli>(duration).count();
    }
    static bool import_images(int count) {
        const fakes::TempDir work;
        const auto command = "set -e; cd " + work.path().string() + "; mkdir root; for i in $(seq " +
                             std::to_string(count) + "); do echo $i > root/file; " + from_environment("CRI_PACK") +
                             " root i.tar localhost/size-$i:1 '{\"Entrypoint\": [\"/file\"]}'; " +
                             from_environment("CRI_CTR") + " -a " + from_environment("CRI_SOCKET") +
                             " -n k8s.io image import i.tar > /dev/null; done";
        return std::system(command.c_str()) == 0;  // NOLINT(cert-env33-c)
    }
};

TEST_F(SizeTest, DISABLED_ListsOfALargeNode) {
    constexpr int pods = 10;
    constexpr int containers = 500;
    constexpr int more_images = 200;
    ASSERT_TRUE(import_images(more_images));
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
    auto all = runtime->containers();
    ASSERT_TRUE(all);
    const auto volumes_take = [&](cri::Runtime& of) {
        const auto asked = Clock::now();
        EXPECT_TRUE(of.add_image_volumes(*all));
        return milliseconds(Clock::now() - asked);
    };
    std::vector<double> first;
    std::vector<double> next;
    for (int round = 0; round < 7; round++) {
        const auto fresh = connect();
        ASSERT_NE(fresh, nullptr);
        first.push_back(volumes_take(*fresh));
        next.push_back(volumes_take(*fresh));
    }
    std::sort(first.begin(), first.end());
    std::printf("image volumes: first inventory: median %.1f ms, most %.1f ms; next inventory: most %.1f ms\n",
                first[first.size() / 2], first.back(), *std::max_element(next.begin(), next.end()));
    const auto begin = Clock::now();
    const auto layers = runtime->layers();
    ASSERT_TRUE(layers);
    std::printf("%zu containers, %zu images listed: median %.1f ms, most %.1f ms; %zu layers: %.1f ms\n", found, images,
                taken[taken.size() / 2], taken.back(), layers->size(), milliseconds(Clock::now() - begin));
    EXPECT_GE(found, static_cast<std::size_t>(containers));
    EXPECT_GE(images, static_cast<std::size_t>(more_images));
}

}  // namespace
}  // namespace evictd::cri_test

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Image GC: one rule of realImageGCManager a test. Times count back from now.
#include "image_gc.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;
using Ids = std::vector<std::string>;

constexpr WallTime now{std::chrono::hours(1000)};
constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

RuntimeImage image(std::string id, Bytes size, std::optional<Duration> used_ago = std::nullopt,
                   Duration detected_ago = 24h) {
    RuntimeImage made{std::move(id), size, now - detected_ago, std::nullopt, false, false};
    if (used_ago) made.last_used = now - *used_ago;
    return made;
}

Runtime holding(std::vector<RuntimeImage> images) {
    Runtime runtime;
    runtime.images = std::move(images);
    return runtime;
}

ImageGcPolicy water_marks(int high, int low) { return {high, low, 0s, 0s}; }

TEST(ImageGc, NothingIsRemovedBelowTheHighWaterMark) {
    struct Case {
        Bytes available;
        bool collects;
    };
    // 85 % by default; the share that is left is cut off to whole percents, so 15.9 % left is 85 % used.
    for (const Case& c : {Case{160_B, false}, Case{159_B, true}, Case{150_B, true}, Case{149_B, true}, Case{0_B, true},
                          Case{1000_B, false}, Case{5000_B, false}}) {
        const auto result = collect_images({}, holding({image("a", 1000_B)}), 1000_B, c.available, now);
        EXPECT_EQ(!result.removed.empty(), c.collects) << c.available.value;
        EXPECT_EQ(result.error, "");
    }
}

TEST(ImageGc, ItStopsAsSoonAsEnoughIsFreed) {
    // 90 % of 1000 used, down to 80 %: 100 to free.
    const Runtime runtime = holding({image("a", 60_B, 3h), image("b", 40_B, 2h), image("c", 10_B, 1h)});
    const auto result = collect_images({}, runtime, 1000_B, 100_B, now);
    EXPECT_EQ(result.removed, (Ids{"a", "b"}));
    EXPECT_EQ(result.freed, 100_B);
    EXPECT_EQ(result.error, "");
}

TEST(ImageGc, TooLittleToFreeIsToldInTheKubeletsWords) {
    const auto result = collect_images({}, holding({image("a", 60_B)}), 1000_B, 100_B, now);
    EXPECT_EQ(result.removed, (Ids{"a"}));
    EXPECT_EQ(result.error,
              "Failed to garbage collect required amount of images. Attempted to free 100 bytes, but only found 60 "
              "bytes eligible to free.");
}

TEST(ImageGc, MoreAvailableThanCapacityIsTheCapacity) {
    // Usage 0 % is at the mark of 0, where one image goes; less than nothing would be below it.
    const auto result = collect_images(water_marks(0, 0), holding({image("a", 1_B)}), 1000_B, 5000_B, now);
    EXPECT_EQ(result.removed, (Ids{"a"}));
    EXPECT_EQ(result.error, "");
}

TEST(ImageGc, WithoutACapacityThereIsNoUsage) {
    const auto result = collect_images({}, holding({image("a", 1_B)}), 0_B, 0_B, now);
    EXPECT_EQ(result.error, "invalid capacity 0 on image filesystem");
    EXPECT_TRUE(result.removed.empty());
}

TEST(ImageGc, OneImageGoesEvenWhenRoundingLeavesNothingToFree) {
    // 20.9 % left reads as 80 % used, which is at the mark, and is below it already.
    const auto result =
        collect_images(water_marks(80, 80), holding({image("a", 5_B), image("b", 5_B)}), 1000_B, 209_B, now);
    EXPECT_EQ(result.removed, (Ids{"a"}));
    EXPECT_EQ(result.error, "");
}

TEST(ImageGc, TheLongestUnusedGoFirstThenTheLongestKnown) {
    const Runtime runtime = holding({
        image("used-late", 1_B, 1h, 90h),
        image("used-early-new", 1_B, 5h, 10h),
        image("used-early-old", 1_B, 5h, 20h),
        image("never-new", 1_B, std::nullopt, 1h),
        image("never-old", 1_B, std::nullopt, 2h),
        image("never-old-too", 1_B, std::nullopt, 2h),
    });
    const auto result = delete_unused_images(water_marks(0, 0), runtime, now);
    EXPECT_EQ(result.removed,
              (Ids{"never-old", "never-old-too", "never-new", "used-early-old", "used-early-new", "used-late"}));
}

TEST(ImageGc, WhatIsInUsePinnedOrTheSandboxImageStays) {
    Runtime runtime = holding({image("used", 1_B), image("pinned", 1_B), image("pause", 1_B), image("free", 1_B)});
    runtime.images[0].in_use = true;
    runtime.images[1].pinned = true;
    runtime.sandbox_image = "pause";
    EXPECT_EQ(delete_unused_images(water_marks(0, 0), runtime, now).removed, (Ids{"free"}));
    EXPECT_EQ(collect_images({85, 80, 0s, 1s}, runtime, 100_B, 100_B, now).removed, (Ids{"free"}));
}

TEST(ImageGc, WhatWasUsedJustNowStays) {
    const Runtime runtime = holding({image("later", 1_B, -1h), image("now", 1_B, 0s), image("before", 1_B, 1ns)});
    EXPECT_EQ(delete_unused_images(water_marks(0, 0), runtime, now).removed, (Ids{"before"}));
}

TEST(ImageGc, WhatIsYoungerThanTheMinimumAgeStays) {
    const Runtime runtime = holding({image("just", 1_B, std::nullopt, 2min), image("young", 1_B, 1h, 2min - 1ns)});
    EXPECT_EQ(delete_unused_images({}, runtime, now).removed, (Ids{"just"}));
}

TEST(ImageGc, WhatIsTooOldGoesWhateverIsAvailable) {
    const ImageGcPolicy policy{85, 80, 2min, 10h};
    const Runtime runtime = holding({
        image("old", 7_B, 10h + 1ns),
        image("just", 1_B, 10h),
        image("never-used-and-new", 1_B, std::nullopt, 1s),
        image("used-in-future", 1_B, -1h),
    });
    const auto result = collect_images(policy, runtime, 100_B, 100_B, now);
    EXPECT_EQ(result.removed, (Ids{"never-used-and-new", "old"}));
    EXPECT_EQ(result.freed, 8_B);
    EXPECT_EQ(collect_images(policy, runtime, 0_B, 0_B, now).removed, (Ids{"never-used-and-new", "old"}));
}

TEST(ImageGc, WhatWentForItsAgeDoesNotCountAsFreed) {
    const ImageGcPolicy policy{85, 80, 0s, 10h};
    const Runtime runtime = holding({image("old", 500_B, 20h), image("free", 60_B, 1h)});
    const auto result = collect_images(policy, runtime, 1000_B, 100_B, now);
    EXPECT_EQ(result.removed, (Ids{"old", "free"}));
    EXPECT_EQ(result.freed, 560_B);
    EXPECT_NE(result.error.find("only found 60 bytes"), std::string::npos);
}

TEST(ImageGc, MaximumAgeZeroIsNone) {
    EXPECT_TRUE(collect_images({}, holding({image("a", 1_B)}), 100_B, 100_B, now).removed.empty());
}

TEST(ImageGc, AShortDiskAsksForNoAgeButTheMinimum) {
    const ImageGcPolicy policy{85, 80, 2min, 1s};
    const Runtime runtime = holding({image("young", 1_B, 1h, 1min), image("old", 2_B, 1h)});
    const auto result = delete_unused_images(policy, runtime, now);
    EXPECT_EQ(result.removed, (Ids{"old"}));
    EXPECT_EQ(result.freed, 2_B);
    EXPECT_EQ(result.error, "");
}

TEST(ImageGc, AbsurdSizesDoNotOverflow) {
    const Runtime runtime = holding({image("a", {huge}, 3h), image("b", {huge}, 2h)});
    const auto all = delete_unused_images(water_marks(0, 0), runtime, now);
    EXPECT_EQ(all.removed, (Ids{"a"}));  // that is all that could be asked for
    const auto some = collect_images(water_marks(85, 80), runtime, {huge}, {huge / 10}, now);
    EXPECT_EQ(some.removed, (Ids{"a"}));
    EXPECT_EQ(some.error, "");
    const auto both = collect_images({85, 80, 0s, 1s}, runtime, {huge}, {huge}, now);
    EXPECT_EQ(both.freed.value, huge);
    EXPECT_EQ(both.removed.size(), 2U);
    EXPECT_FALSE(collect_images({}, runtime, {huge}, {std::numeric_limits<std::int64_t>::min()}, now).removed.empty());
}

}  // namespace
}  // namespace evictd::policy

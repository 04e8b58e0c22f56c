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
constexpr Duration long_ago = std::chrono::hours(900);  // since when the manager runs
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
        const auto result = collect_images({}, holding({image("a", 1000_B)}), 1000_B, c.available, now, long_ago);
        EXPECT_EQ(!result.removed.empty(), c.collects) << c.available.value;
        EXPECT_EQ(result.error, "");
    }
}

TEST(ImageGc, ItStopsAsSoonAsEnoughIsFreed) {
    // 90 % of 1000 used, down to 80 %: 100 to free.
    const Runtime runtime = holding({image("a", 60_B, 3h), image("b", 40_B, 2h), image("c", 10_B, 1h)});
    const auto result = collect_images({}, runtime, 1000_B, 100_B, now, long_ago);
    EXPECT_EQ(result.removed, (Ids{"a", "b"}));
    EXPECT_EQ(result.freed, 100_B);
    EXPECT_EQ(result.error, "");
}

TEST(ImageGc, TooLittleToFreeIsReportedInTheKubeletsWords) {
    const auto result = collect_images({}, holding({image("a", 60_B)}), 1000_B, 100_B, now, long_ago);
    EXPECT_EQ(result.removed, (Ids{"a"}));
    EXPECT_EQ(
        result.error,
        "Insufficient free disk space on the node's image filesystem (90% of 1000 B used). Failed to free "
        "sufficient space by deleting unused images (freed 60 bytes). Investigate disk usage, as it could be used "
        "by active images, logs, volumes, or other data.");
}

TEST(ImageGc, TheCapacityInTheErrorIsInBinaryUnits) {
    const auto capacity_told = [](Bytes capacity) {
        const std::string error = collect_images({}, {}, capacity, 0_B, now, long_ago).error;
        const auto begin = error.find("(100% of ") + 9;
        return error.substr(begin, error.find(" used)") - begin);
    };
    EXPECT_EQ(capacity_told(1023_B), "1023 B");
    EXPECT_EQ(capacity_told(1_KiB), "1.0 KiB");
    EXPECT_EQ(capacity_told(1_MiB - 1_B), "1024.0 KiB");
    EXPECT_EQ(capacity_told(1536_MiB), "1.5 GiB");
    EXPECT_EQ(capacity_told(1_GiB - 512_MiB), "512.0 MiB");
    EXPECT_EQ(capacity_told(100_GiB), "100.0 GiB");
    EXPECT_EQ(capacity_told(2048_GiB), "2.0 TiB");
    EXPECT_EQ(capacity_told({huge}), "8388608.0 TiB");
}

TEST(ImageGc, IsOffWithTheHighestMarkAndNoMaximumAge) {
    const Runtime runtime = holding({image("a", 1_B, 10h)});
    EXPECT_TRUE(collect_images(water_marks(100, 80), runtime, 100_B, 0_B, now, long_ago).removed.empty());
    EXPECT_EQ(collect_images(water_marks(100, 80), runtime, 0_B, 0_B, now, long_ago).error, "");
    EXPECT_EQ(collect_images({100, 80, 0s, 1h}, runtime, 100_B, 100_B, now, long_ago).removed, (Ids{"a"}));
    EXPECT_EQ(collect_images({100, 80, 0s, 11h}, runtime, 100_B, 0_B, now, long_ago).removed, (Ids{"a"}));
}

TEST(ImageGc, NothingIsTooOldUntilTheManagerHasRunForLonger) {
    const ImageGcPolicy policy{85, 80, 0s, 10h};
    const Runtime runtime = holding({image("old", 1_B, 20h), image("never-used", 1_B)});
    EXPECT_TRUE(collect_images(policy, runtime, 100_B, 100_B, now, 0s).removed.empty());
    EXPECT_TRUE(collect_images(policy, runtime, 100_B, 100_B, now, 10h).removed.empty());
    EXPECT_EQ(collect_images(policy, runtime, 100_B, 100_B, now, 10h + 1ns).removed, (Ids{"never-used", "old"}));
}

TEST(ImageGc, MoreAvailableThanCapacityIsTheCapacity) {
    // Usage 0 % is at the mark of 0, where one image goes; less than nothing would be below it.
    const auto result = collect_images(water_marks(0, 0), holding({image("a", 1_B)}), 1000_B, 5000_B, now, long_ago);
    EXPECT_EQ(result.removed, (Ids{"a"}));
    EXPECT_EQ(result.error, "");
}

TEST(ImageGc, WithoutACapacityThereIsNoUsage) {
    const auto result = collect_images({}, holding({image("a", 1_B)}), 0_B, 0_B, now, long_ago);
    EXPECT_EQ(result.error, "invalid capacity 0 on image filesystem");
    EXPECT_TRUE(result.removed.empty());
}

TEST(ImageGc, OneImageGoesEvenWhenRoundingLeavesNothingToFree) {
    // 20.9 % left reads as 80 % used, which is at the mark, and is below it already.
    const auto result =
        collect_images(water_marks(80, 80), holding({image("a", 5_B), image("b", 5_B)}), 1000_B, 209_B, now, long_ago);
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
    EXPECT_EQ(collect_images({85, 80, 0s, 1s}, runtime, 100_B, 100_B, now, long_ago).removed, (Ids{"free"}));
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
    const auto result = collect_images(policy, runtime, 100_B, 100_B, now, long_ago);
    EXPECT_EQ(result.removed, (Ids{"never-used-and-new", "old"}));
    EXPECT_EQ(result.freed, 8_B);
    EXPECT_EQ(collect_images(policy, runtime, 0_B, 0_B, now, long_ago).removed, (Ids{"never-used-and-new", "old"}));
}

TEST(ImageGc, WhatWentForItsAgeDoesNotCountAsFreed) {
    const ImageGcPolicy policy{85, 80, 0s, 10h};
    const Runtime runtime = holding({image("old", 500_B, 20h), image("free", 60_B, 1h)});
    const auto result = collect_images(policy, runtime, 1000_B, 100_B, now, long_ago);
    EXPECT_EQ(result.removed, (Ids{"old", "free"}));
    EXPECT_EQ(result.freed, 560_B);
    EXPECT_NE(result.error.find("(freed 60 bytes)"), std::string::npos);
}

TEST(ImageGc, MaximumAgeZeroIsNone) {
    EXPECT_TRUE(collect_images({}, holding({image("a", 1_B)}), 100_B, 100_B, now, long_ago).removed.empty());
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
    const auto some = collect_images(water_marks(85, 80), runtime, {huge}, {huge / 10}, now, long_ago);
    EXPECT_EQ(some.removed, (Ids{"a"}));
    EXPECT_EQ(some.error, "");
    const auto both = collect_images({85, 80, 0s, 1s}, runtime, {huge}, {huge}, now, long_ago);
    EXPECT_EQ(both.freed.value, huge);
    EXPECT_EQ(both.removed.size(), 2U);
    EXPECT_FALSE(
        collect_images({}, runtime, {huge}, {std::numeric_limits<std::int64_t>::min()}, now, long_ago).removed.empty());
}

}  // namespace
}  // namespace evictd::policy

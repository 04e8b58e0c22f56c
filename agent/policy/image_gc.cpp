// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "image_gc.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <tuple>
#include <utility>

#include "age.hpp"
#include "evictd/model/image_names.hpp"
#include "evictd/model/quantity.hpp"

namespace evictd::policy {

namespace {

constexpr std::int64_t everything = std::numeric_limits<std::int64_t>::max();

using Order = std::vector<const RuntimeImage*>;

// imagesInEvictionOrder, but for the sandbox image: the kubelet has left that to the runtime, which pins it. A runtime
// that does not would pull it again for each new pod, on a node that is short of disk. The one unused for the longest
// time first, never used ones in front of all, and of these the one longest on the node. The kubelet leaves equals in
// any order; here they keep that of the list.
Order eviction_order(const Runtime& runtime) {
    Order order;
    for (const RuntimeImage& image : runtime.images) {
        const bool may_go = !image.in_use && !image.pinned && !may_be_named(image, runtime.sandbox_image);
        if (may_go) order.push_back(&image);
    }
    std::stable_sort(order.begin(), order.end(), [](const RuntimeImage* a, const RuntimeImage* b) {
        return std::tie(a->last_used, a->first_detected) < std::tie(b->last_used, b->first_detected);
    });
    return order;
}

Bytes saturated_sum(Bytes a, Bytes b) {
    Bytes sum;
    if (__builtin_add_overflow(a.value, b.value, &sum.value)) sum.value = everything;
    return sum;
}

void remove(const RuntimeImage& image, ImageGcResult& result) {
    result.removed.push_back(image.id);
    result.freed = saturated_sum(result.freed, image.size);
}

// freeOldImages. Until the manager has run for the maximum age it may have missed a use. An image that was never used
// was last used in the year 1, which is older than any maximum but none.
void remove_old(const ImageGcPolicy& policy, WallTime now, Duration running_for, Order& order, ImageGcResult& result) {
    if (policy.max_age == Duration::zero() || running_for <= policy.max_age) return;
    Order kept;
    for (const RuntimeImage* image : order) {
        const Duration unused = image->last_used ? age(now, *image->last_used) : Duration::max();
        if (unused > policy.max_age) {
            remove(*image, result);
        } else {
            kept.push_back(image);
        }
    }
    order = std::move(kept);
}

// freeSpace: what it freed. It looks at the sum only after a removal, so one goes even where nothing has to.
Bytes free_space(const ImageGcPolicy& policy, WallTime now, std::int64_t wanted, const Order& order,
                 ImageGcResult& result) {
    Bytes freed;
    for (const RuntimeImage* image : order) {
        if (image->last_used && *image->last_used >= now) continue;
        if (age(now, image->first_detected) < policy.min_age) continue;
        remove(*image, result);
        freed = saturated_sum(freed, image->size);
        if (freed.value >= wanted) break;
    }
    return freed;
}

// formatSize.
std::string in_binary_units(Bytes size) {
    constexpr std::array units{"KiB", "MiB", "GiB", "TiB"};
    if (size.value < 1024) return std::to_string(size.value) + " B";
    double amount = static_cast<double>(size.value) / 1024;
    std::size_t unit = 0;
    for (; amount >= 1024 && unit + 1 < units.size(); ++unit) amount /= 1024;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f %s", amount, units.at(unit));
    return text.data();
}

std::string shortage(std::int64_t percent_used, Bytes capacity, Bytes freed) {
    return "Insufficient free disk space on the node's image filesystem (" + std::to_string(percent_used) + "% of " +
           in_binary_units(capacity) + " used). Failed to free sufficient space by deleting unused images (freed " +
           std::to_string(freed.value) +
           " bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.";
}

}  // namespace

ImageGcResult collect_images(const ImageGcPolicy& policy, const Runtime& runtime, Bytes capacity, Bytes available,
                             WallTime now, Duration running_for) {
    ImageGcResult result;
    if (policy.high_threshold_percent == 100 && policy.max_age == Duration::zero()) return result;
    Order order = eviction_order(runtime);
    remove_old(policy, now, running_for, order, result);
    if (capacity.value <= 0) {
        result.error = "invalid capacity 0 on image filesystem";
        return result;
    }
    const Int128 size = capacity.value;
    const Int128 left = std::min(available, capacity).value;
    const Int128 percent_used = 100 - left * 100 / size;
    if (percent_used < policy.high_threshold_percent) return result;

    const Int128 missing = size * (100 - policy.low_threshold_percent) / 100 - left;
    const auto wanted = static_cast<std::int64_t>(std::min<Int128>(missing, everything));
    const Bytes freed = free_space(policy, now, wanted, order, result);
    if (freed.value < wanted) result.error = shortage(static_cast<std::int64_t>(percent_used), capacity, freed);
    return result;
}

ImageGcResult delete_unused_images(const ImageGcPolicy& policy, const Runtime& runtime, WallTime now) {
    ImageGcResult result;
    free_space(policy, now, everything, eviction_order(runtime), result);
    return result;
}

}  // namespace evictd::policy

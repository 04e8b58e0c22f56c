// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "image_gc.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "age.hpp"
#include "evictd/model/quantity.hpp"

namespace evictd::policy {

namespace {

constexpr std::int64_t everything = std::numeric_limits<std::int64_t>::max();

using Order = std::vector<const RuntimeImage*>;

// imagesInEvictionOrder: the one unused for the longest time first, never used ones in front of all, and of these the
// one longest on the node. The kubelet leaves equals in any order; here they keep that of the list.
Order eviction_order(const Runtime& runtime) {
    Order order;
    for (const RuntimeImage& image : runtime.images) {
        if (!image.in_use && !image.pinned && image.id != runtime.sandbox_image) order.push_back(&image);
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

// freeOldImages. An image that was never used was last used in the year 1, which is older than any maximum but none.
void remove_old(const ImageGcPolicy& policy, WallTime now, Order& order, ImageGcResult& result) {
    if (policy.max_age == Duration::zero()) return;
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

std::string shortage(std::int64_t wanted, Bytes freed) {
    return "Failed to garbage collect required amount of images. Attempted to free " + std::to_string(wanted) +
           " bytes, but only found " + std::to_string(freed.value) + " bytes eligible to free.";
}

}  // namespace

ImageGcResult collect_images(const ImageGcPolicy& policy, const Runtime& runtime, Bytes capacity, Bytes available,
                             WallTime now) {
    ImageGcResult result;
    Order order = eviction_order(runtime);
    remove_old(policy, now, order, result);
    if (capacity.value <= 0) {
        result.error = "invalid capacity 0 on image filesystem";
        return result;
    }
    const Int128 size = capacity.value;
    const Int128 left = std::min(available, capacity).value;
    if (100 - left * 100 / size < policy.high_threshold_percent) return result;

    const Int128 missing = size * (100 - policy.low_threshold_percent) / 100 - left;
    const auto wanted = static_cast<std::int64_t>(std::min<Int128>(missing, everything));
    const Bytes freed = free_space(policy, now, wanted, order, result);
    if (freed.value < wanted) result.error = shortage(wanted, freed);
    return result;
}

ImageGcResult delete_unused_images(const ImageGcPolicy& policy, const Runtime& runtime, WallTime now) {
    ImageGcResult result;
    free_space(policy, now, everything, eviction_order(runtime), result);
    return result;
}

}  // namespace evictd::policy

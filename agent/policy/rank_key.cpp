// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "rank_key.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace evictd::policy {
namespace {

// The beginning of a key, which nearly always decides, in a third of the memory: a sort moves each key many times.
struct ShortKey {
    std::uint64_t beginning = 0;
    std::uint32_t position = 0;  // of the whole key
};

// As floats, whatever their size, amounts keep their order in a few bits: some that differ become equal, no more. The
// bits of negative floats count backwards.
std::uint32_t float_order(Int128 amount) {
    constexpr std::uint32_t sign = 0x8000'0000U;
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(amount));
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

std::uint64_t beginning_of(const RankKey& key) {
    constexpr int spare_bits = 64 - chain_bits;
    return key.chain << spare_bits | float_order(key.spare) >> (32 - spare_bits);
}

// By one byte after the other, from the lowest to the highest: each pass keeps what the passes before have sorted.
// Nothing in it hangs on how two keys compare, which the CPU could not foresee.
void radix_sort(std::vector<ShortKey>& keys) {
    std::uint64_t differing = 0;
    for (const auto& key : keys) differing |= key.beginning ^ keys.front().beginning;
    std::vector<ShortKey> sorted(keys.size());
    for (int shift = 0; shift < 64; shift += 8) {
        const auto byte_of = [&](std::uint64_t number) { return number >> shift & 0xffU; };
        if (byte_of(differing) == 0) continue;
        std::array<std::uint32_t, 257> places{};  // of each byte's next key
        for (const auto& key : keys) ++places[byte_of(key.beginning) + 1];
        std::partial_sum(places.begin(), places.end(), places.begin());
        for (const auto& key : keys) sorted[places[byte_of(key.beginning)]++] = key;
        keys.swap(sorted);
    }
}

// Fewer keys are sorted in 2 us by either. From here on the passes take a third of the time of comparisons, unless the
// CPU has learned the very keys, as in a benchmark.
constexpr std::size_t fewest_for_passes = 256;

void sort_by_beginning(std::vector<ShortKey>& keys) {
    if (keys.size() >= fewest_for_passes) return radix_sort(keys);
    std::sort(keys.begin(), keys.end(), [](const ShortKey& a, const ShortKey& b) { return a.beginning < b.beginning; });
}

// Sorts `some`, whose beginnings are equal and of which the first stands at `at` in the order, and notes the equals.
void sort_by_whole(std::span<ShortKey> some, std::size_t at, std::span<const RankKey> keys,
                   std::vector<EqualKeys>& equals) {
    const auto whole = [&](const ShortKey& key) -> const RankKey& { return keys[key.position]; };
    const auto before = [&](const ShortKey& a, const ShortKey& b) { return whole(a) < whole(b); };
    // Mostly they are equal.
    if (!std::is_sorted(some.begin(), some.end(), before)) std::sort(some.begin(), some.end(), before);
    for (std::size_t begin = 0; begin < some.size();) {
        std::size_t end = begin + 1;
        while (end < some.size() && whole(some[end]) == whole(some[begin])) ++end;
        if (end - begin > 1) equals.push_back({at + begin, end - begin});
        begin = end;
    }
}

}  // namespace

KeyOrder key_order(std::span<const RankKey> keys) {
    std::vector<ShortKey> sorted;
    sorted.reserve(keys.size());
    for (const auto& key : keys) sorted.push_back({beginning_of(key), static_cast<std::uint32_t>(sorted.size())});
    sort_by_beginning(sorted);
    KeyOrder order;
    for (std::size_t begin = 0; begin < sorted.size();) {
        std::size_t end = begin + 1;
        while (end < sorted.size() && sorted[end].beginning == sorted[begin].beginning) ++end;
        if (end - begin > 1) sort_by_whole(std::span(sorted).subspan(begin, end - begin), begin, keys, order.equals);
        begin = end;
    }
    order.positions.reserve(sorted.size());
    for (const auto& key : sorted) order.positions.push_back(key.position);
    return order;
}

}  // namespace evictd::policy

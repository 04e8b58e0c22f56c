// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the kubelet's comparators want of a pod, as one key that is computed once, and the order of such keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "evictd/model/quantity.hpp"

namespace evictd::policy {

// Two of the QoS class, two of flags, and the priority.
inline constexpr int chain_bits = 36;

// The smaller key goes first.
struct RankKey {
    std::uint64_t chain = 0;  // the comparators before the last one, in chain_bits
    Int128 spare = 0;         // what is subtracted less the usage, in nano units: the most over it first

    friend bool operator==(const RankKey& a, const RankKey& b) { return a.chain == b.chain && a.spare == b.spare; }
    friend bool operator<(const RankKey& a, const RankKey& b) {
        return a.chain != b.chain ? a.chain < b.chain : a.spare < b.spare;
    }
};

// Where equal keys stand in the order.
struct EqualKeys {
    std::size_t begin = 0;
    std::size_t count = 0;  // at least 2
};

struct KeyOrder {
    std::vector<std::uint32_t> positions;  // in the keys that were given, the smallest key's first
    std::vector<EqualKeys> equals;         // in the order of `begin`; theirs stand in any order
};

[[nodiscard]] KeyOrder key_order(std::span<const RankKey> keys);

}  // namespace evictd::policy

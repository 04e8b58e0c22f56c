// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// However keys are sorted, their order is that of the plain comparison.
#include "rank_key.hpp"

#include <algorithm>
#include <array>

#include <gmock/gmock.h>

#include "unit/policy/random_node.hpp"

namespace evictd::policy::testing {
namespace {

constexpr auto most = static_cast<Int128>(~UInt128{0} >> 1);
constexpr Int128 least = -most - 1;

// Of every size, near others, and at the ends: a beginning of the key holds the first digits alone.
Int128 random_spare(Dice& dice) {
    const auto near = static_cast<Int128>(dice.below(5)) - 2;
    const std::array ends{least, least + 1, most - 1, most, Int128{0}};
    if (dice.one_in(8)) return ends.at(dice.below(ends.size()));
    if (dice.one_in(8)) return near;
    const auto size = static_cast<Int128>(UInt128{1} << dice.below(126));
    const auto some = size + near + (dice.one_in(2) ? static_cast<Int128>(dice.below(64)) * (size / 64) : 0);
    return dice.one_in(2) ? some : -some;
}

std::uint64_t random_chain(Dice& dice) {
    constexpr std::uint64_t all = (std::uint64_t{1} << chain_bits) - 1;
    if (dice.one_in(3)) return dice.one_in(2) ? 0 : all;
    return dice.one_in(2) ? dice.below(3) << (chain_bits - 2) | dice.below(3) : dice.below(all + 1);
}

// Of `kinds` different keys, so that there are ties where these are fewer.
std::vector<RankKey> random_keys(Dice& dice, std::size_t count, std::size_t kinds) {
    std::vector<RankKey> drawn;
    for (std::size_t i = 0; i < kinds; ++i) drawn.push_back({random_chain(dice), random_spare(dice)});
    std::vector<RankKey> keys;
    for (std::size_t i = 0; i < count; ++i) keys.push_back(drawn[dice.below(kinds)]);
    return keys;
}

void expect_plain_order(const std::vector<RankKey>& keys) {
    const KeyOrder order = key_order(keys);
    ASSERT_EQ(order.positions.size(), keys.size());
    auto positions = order.positions;
    std::sort(positions.begin(), positions.end());
    for (std::size_t i = 0; i < positions.size(); ++i) ASSERT_EQ(positions[i], i) << "a key is missing, or there twice";
    std::size_t tied = 0;
    auto next = order.equals.begin();
    for (std::size_t i = 1; i < keys.size(); ++i) {
        const RankKey& before = keys[order.positions[i - 1]];
        const RankKey& after = keys[order.positions[i]];
        ASSERT_FALSE(after < before) << i;
        if (next != order.equals.end() && i == next->begin + next->count) ++next;
        const bool told = next != order.equals.end() && i > next->begin;
        ASSERT_EQ(told, before == after) << i;
        if (told) ++tied;
    }
    for (const auto& equals : order.equals) tied -= equals.count - 1;
    EXPECT_EQ(tied, 0U);
}

TEST(KeyOrder, IsThatOfThePlainComparison) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Dice dice(seed);
        const std::size_t count = seed % 20 == 0 ? 3000 + dice.below(3000) : dice.below(300);
        expect_plain_order(random_keys(dice, count, 1 + dice.below(2 * count + 1)));
    }
}

TEST(KeyOrder, OfManyThatDifferInTheLastDigitAlone) {
    for (const Int128 from : {Int128{0}, most - 5000, least, Int128{500} << 60}) {
        std::vector<RankKey> keys;
        keys.reserve(5000);
        for (int i = 0; i < 5000; ++i) keys.push_back({7, from + i * 7919 % 5000});
        expect_plain_order(keys);
    }
}

TEST(KeyOrder, OfNoneOneAndEquals) {
    expect_plain_order({});
    expect_plain_order({{1, 2}});
    expect_plain_order(std::vector<RankKey>(5000, {1, least}));
}

}  // namespace
}  // namespace evictd::policy::testing

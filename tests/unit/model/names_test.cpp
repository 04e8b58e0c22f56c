// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "evictd/model/names.hpp"

#include <cstdint>

#include <gtest/gtest.h>

#include "evictd/model/signal.hpp"

namespace evictd {
namespace {

enum class Colour : std::uint8_t { red, green };

}  // namespace

template <>
struct Names<Colour> {
    static constexpr Words<2> words{"red", "light green"};
};

namespace {

static_assert(has_enumerators<Colour, 2>());
static_assert(!has_enumerators<Colour, 1>(), "one has no name");
static_assert(!has_enumerators<Colour, 3>(), "a name has no enumerator");
static_assert(name(Colour::green) == "light green");

TEST(Names, AreReadAndListed) {
    EXPECT_EQ(from_name<Colour>("light green"), Colour::green);
    EXPECT_EQ(from_name<Colour>("green"), std::nullopt);
    EXPECT_EQ(from_name<Colour>(""), std::nullopt);
    EXPECT_EQ(listed<Colour>(), "red, light green");
}

TEST(Names, OfEverySignalAreReadBack) {
    for (const auto& row : signal_table) {
        EXPECT_EQ(from_name<Signal>(name(row.signal)), row.signal);
    }
}

}  // namespace
}  // namespace evictd

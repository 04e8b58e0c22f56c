// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Any text as a quantity: what is accepted is the same again after being written and read.
#include "evictd/model/quantity.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

void expect(bool holds) {
    if (!holds) std::abort();
}

void quantity(std::string_view text) {
    const auto parsed = evictd::parse_quantity(text);
    if (!parsed) return;
    const std::string canonical = to_string(*parsed);
    const auto again = evictd::parse_quantity(canonical);
    expect(again.has_value() && *again == *parsed);
    // 62.5Ki is written 64000, which is read as a decimal quantity and written 64k: upstream's forms are not their own.
    if (again->format() == parsed->format()) expect(to_string(*again) == canonical);
    // Rounding is away from zero and never changes the sign.
    expect((parsed->value() > 0) == (parsed->sign() > 0) && (parsed->milli_value() < 0) == (parsed->sign() < 0));
    expect((*parsed + *again).sign() == parsed->sign());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    quantity(text);
    return 0;
}

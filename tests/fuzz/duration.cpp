// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Any text as a Go duration: what is accepted is the same again after being written and read, what is not has Go's
// words for it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "evictd/model/quantity.hpp"

namespace {

void expect(bool holds) {
    if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    const auto parsed = evictd::parse_duration(text);
    if (!parsed) {
        expect(parsed.error().why.starts_with("time: "));
        return 0;
    }
    const std::string canonical = evictd::to_string(*parsed);
    const auto again = evictd::parse_duration(canonical);
    expect(again.has_value() && *again == *parsed && evictd::to_string(*again) == canonical);
    // A sign in front turns it round, unless there is one already or nothing to turn it into.
    if (!text.empty() && text.front() != '-' && text.front() != '+') {
        const auto negative = evictd::parse_duration("-" + std::string(text));
        expect(negative.has_value() && negative->count() == -parsed->count());
    }
    return 0;
}

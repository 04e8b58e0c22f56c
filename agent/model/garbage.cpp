// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "evictd/model/garbage.hpp"

#include <array>
#include <cstddef>
#include <limits>

#include "evictd/model/text.hpp"

namespace evictd {

Bytes bytes_of(std::span<const Garbage> garbage) {
    Bytes sum;
    for (const Garbage& one : garbage) {
        if (!one.size || one.size->value <= 0) continue;
        if (__builtin_add_overflow(sum.value, one.size->value, &sum.value)) {
            return {std::numeric_limits<std::int64_t>::max()};
        }
    }
    return sum;
}

std::string say_garbage(std::span<const Garbage> garbage) {
    constexpr std::array<std::string_view, 8> several{"containers",         "sandboxes", "images",
                                                      "log directories",    "log links", "rotated logs",
                                                      "volume directories", "cgroups"};
    static_assert(several.size() == Names<GarbageKind>::words.size());
    std::array<std::size_t, several.size()> counts{};
    for (const Garbage& one : garbage) ++counts[static_cast<std::size_t>(one.kind)];
    std::string said;
    std::size_t last = several.size();
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] != 0) last = i;
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] == 0) continue;
        said += said.empty() ? "" : i == last ? " and " : ", ";
        said += std::to_string(counts[i]) + " " +
                std::string(counts[i] == 1 ? name(static_cast<GarbageKind>(i)) : several[i]);
    }
    if (const Bytes bytes = bytes_of(garbage); bytes.value > 0) said += ", " + bytes_text(bytes.value);
    return said;
}

}  // namespace evictd

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>
#include <vector>

#include "document/value.hpp"

namespace evictd::document {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row.back();
}

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) {
    // Our longest key has 32 letters: what comes after twice as many only costs time.
    const std::string_view start = name.substr(0, 64);
    std::string_view best;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = edit_distance(start, candidate.substr(0, 64));
        if (distance >= least) continue;
        best = candidate;
        least = distance;
    }
    return best;
}

}  // namespace evictd::document

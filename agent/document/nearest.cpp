// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Suggestions for names that are not known.
#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "document/value.hpp"
#include "evictd/model/text.hpp"

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

// The candidate with the fewest letters to change, whatever its case; the first of equals. One that differs in more
// than a third of the name's letters was not meant.
std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) {
    // Our longest key has 32 letters: what comes after twice as many only costs time.
    const std::string_view start = name.substr(0, 64);
    std::string_view best;
    std::size_t least = std::max<std::size_t>((start.size() + 2) / 3, 1) + 1;
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = edit_distance(start, candidate.substr(0, 64));
        if (distance >= least) continue;
        best = candidate;
        least = distance;
    }
    return best;
}

// More than these are too many for one line.
constexpr std::size_t most_listed = 16;

}  // namespace

std::string expected_words(std::span<const std::string_view> known) {
    std::string text = "expected ";
    for (std::size_t i = 0; i < known.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == known.size() ? " or " : ", ") + std::string(known[i]);
    }
    return text;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known, std::string otherwise,
                         std::string_view above) {
    const std::string_view meant = nearest(name, known);
    if (!meant.empty()) return "did you mean " + std::string(above) + excerpt(meant) + "?";
    if (!otherwise.empty() || known.empty() || known.size() > most_listed) return otherwise;
    return expected_words(known);
}

}  // namespace evictd::document

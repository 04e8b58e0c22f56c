// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Two programs' figures of many rounds, as one table. It runs nothing.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "figures.hpp"
#include "statistics.hpp"

namespace evictd::bench {

// Of a figure: its median or its p99.
struct ComparedRow {
    std::string part;
    std::string name;
    std::string quantile;
    std::string unit;
    std::size_t rounds = 0;
    std::size_t base_samples = 0;
    std::size_t tree_samples = 0;
    Comparison compared;
    std::string why;  // it could not be compared
};

// `base` and `tree`: the figures of each round. The rows' order is that of the figures.
[[nodiscard]] std::vector<ComparedRow> compare_rounds(const std::vector<std::vector<Figure>>& base,
                                                      const std::vector<std::vector<Figure>>& tree);

// "slower" of a time, "more" of anything else.
[[nodiscard]] std::string word_for(const ComparedRow& row);
[[nodiscard]] std::string table_of(const std::vector<ComparedRow>& rows);
[[nodiscard]] nlohmann::ordered_json document_of(const std::vector<ComparedRow>& rows, const std::string& command);

}  // namespace evictd::bench

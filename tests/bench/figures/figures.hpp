// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Measured figures: how the benchmark programs and scripts hand them on, and the JSON that is made of them. A line of
// the file is: part, name, unit, one sample after another, all separated by tabs; or part, name, "!", why it could not
// be measured.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "evictd/model/result.hpp"
#include "statistics.hpp"

namespace evictd::bench {

struct Figure {
    std::string part;  // of PARTS
    std::string name;
    std::string unit;
    std::vector<double> samples;
    std::string why;  // it could not be measured; then without samples
};

[[nodiscard]] std::string line_of(const Figure& figure);
[[nodiscard]] Result<Figure> figure_from(const std::string& line);
[[nodiscard]] Result<std::vector<Figure>> read_figures(const std::string& file);

// "figures" and "unmeasured", with the command that measures each again. p99 is null with too few samples for one.
[[nodiscard]] nlohmann::ordered_json document_of(const std::vector<Figure>& figures, const std::string& command);

// "61 us", "1.06 ms": three digits are what a measurement on a shared machine can mean.
[[nodiscard]] std::string say_microseconds(double microseconds);
// The same for microseconds, "1.23 KiB" for others.
[[nodiscard]] std::string say(double value, const std::string& unit);

}  // namespace evictd::bench

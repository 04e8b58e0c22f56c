// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Numbers as people read them, one row a measurement with its target, and for programs in figures.tsv. It measures
// nothing.
#pragma once

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "figures/figures.hpp"
#include "figures/statistics.hpp"

namespace evictd::bench {

class Report {
public:
    // Figures are added to `file`.
    explicit Report(const std::string& file) : figures_(file, std::ios::app) {}
    // What comes next is of this part.
    void begin(std::string part) { part_ = std::move(part); }
    void heading(const std::string& text);
    void line(const std::string& text);
    // A number without a target of its own.
    void told(const std::string& what, const std::string& number);
    // A number against its target; counted if it is missed.
    void judged(const std::string& what, const std::string& number, const std::string& target, bool met);
    // Rows of times in us, also for figures.tsv: first spread_heading(), then one row for each spread().
    void spread_heading();
    Spread spread(const std::string& name, const std::vector<double>& samples);
    // For figures.tsv only.
    void figure(const std::string& name, const std::string& unit, std::vector<double> samples);
    // In both.
    void unmeasured(const std::string& name, const std::string& why);
    [[nodiscard]] int missed() const { return missed_; }
    [[nodiscard]] int unmeasured() const { return unmeasured_; }

private:
    std::ofstream figures_;
    std::string part_;
    int unmeasured_ = 0;
    int missed_ = 0;
};

}  // namespace evictd::bench

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Numbers as people read them: quantiles, and one row a measurement with its target. It measures nothing.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace evictd::bench {

struct Spread {
    double min = 0;
    double median = 0;
    double p90 = 0;
    double p99 = 0;
    double max = 0;
};

// Nearest rank: a value that was measured, never one between two. Zeros for no samples.
[[nodiscard]] Spread spread_of(std::vector<double> samples);

// "61 us", "1.06 ms": three digits are what a measurement on a shared machine can mean.
[[nodiscard]] std::string say_microseconds(double microseconds);

class Report {
public:
    void heading(const std::string& text);
    void line(const std::string& text);
    // A number without a target of its own.
    void told(const std::string& what, const std::string& number);
    // A number against its target; counted if it is missed.
    void judged(const std::string& what, const std::string& number, const std::string& target, bool met);
    [[nodiscard]] int missed() const { return missed_; }

private:
    int missed_ = 0;
};

}  // namespace evictd::bench

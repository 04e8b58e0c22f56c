// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "report.hpp"

#include <array>
#include <cstdio>

namespace evictd::bench {

void Report::heading(const std::string& text) { std::printf("\n%s\n", text.c_str()); }

void Report::line(const std::string& text) {
    std::printf("  %s\n", text.c_str());
    (void)std::fflush(stdout);
}

void Report::told(const std::string& what, const std::string& number) {
    std::printf("  %-58s %12s\n", what.c_str(), number.c_str());
    (void)std::fflush(stdout);
}

void Report::judged(const std::string& what, const std::string& number, const std::string& target, bool met) {
    std::printf("  %-58s %12s   %-14s %s\n", what.c_str(), number.c_str(), target.c_str(), met ? "met" : "MISSED");
    (void)std::fflush(stdout);
    missed_ += met ? 0 : 1;
}

void Report::spread_heading() {
    std::array<char, 128> text{};
    (void)std::snprintf(text.data(), text.size(), "%-8s %10s %10s %10s %10s %10s", "", "min", "median", "p90", "p99",
                        "max");
    line(text.data());
}

Spread Report::spread(const std::string& name, const std::vector<double>& samples) {
    figure(name, "us", samples);
    const auto spread = spread_of(samples);
    std::array<char, 128> text{};
    (void)std::snprintf(text.data(), text.size(), "%-8s %10s %10s %10s %10s %10s", name.c_str(),
                        say_microseconds(spread.min).c_str(), say_microseconds(spread.median).c_str(),
                        say_microseconds(spread.p90).c_str(), say_microseconds(spread.p99).c_str(),
                        say_microseconds(spread.max).c_str());
    line(text.data());
    return spread;
}

void Report::figure(const std::string& name, const std::string& unit, std::vector<double> samples) {
    const std::string why = samples.empty() ? "no samples" : "";
    figures_ << line_of({part_, name, unit, std::move(samples), why}) << '\n' << std::flush;
}

void Report::unmeasured(const std::string& name, const std::string& why) {
    line(name + ": not measured: " + why);
    figures_ << line_of({part_, name, {}, {}, why}) << '\n' << std::flush;
    unmeasured_++;
}

}  // namespace evictd::bench

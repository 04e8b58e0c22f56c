// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "report.hpp"

#include <array>
#include <cstdio>

namespace evictd::bench {
namespace {

std::string spread_row(const std::string& name, const std::array<std::string, 5>& cells) {
    std::array<char, 128> text{};
    (void)std::snprintf(text.data(), text.size(), "%-8s %10s %10s %10s %10s %10s", name.c_str(), cells[0].c_str(),
                        cells[1].c_str(), cells[2].c_str(), cells[3].c_str(), cells[4].c_str());
    return text.data();
}

}  // namespace

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

void Report::spread_heading() { line(spread_row("", {"min", "median", "p90", "p99", "max"})); }

Spread Report::spread(const std::string& name, const std::vector<double>& samples) {
    figure(name, "us", samples);
    const auto spread = spread_of(samples);
    line(spread_row(name, {say_microseconds(spread.min), say_microseconds(spread.median), say_microseconds(spread.p90),
                           say_microseconds(spread.p99), say_microseconds(spread.max)}));
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

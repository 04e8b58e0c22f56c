// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "report.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace evictd::bench {

Spread spread_of(std::vector<double> samples) {
    if (samples.empty()) {
        return {};
    }
    std::sort(samples.begin(), samples.end());
    const auto at = [&](double share) {
        const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(samples.size())));
        return samples[std::max<std::size_t>(rank, 1) - 1];
    };
    return {samples.front(), at(0.5), at(0.9), at(0.99), samples.back()};
}

std::string say_microseconds(double microseconds) {
    std::array<char, 32> text{};
    if (microseconds < 1000) {
        (void)std::snprintf(text.data(), text.size(), "%.*f us", microseconds < 10 ? 2 : 0, microseconds);
    } else {
        (void)std::snprintf(text.data(), text.size(), "%.2f ms", microseconds / 1000);
    }
    return text.data();
}

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

}  // namespace evictd::bench

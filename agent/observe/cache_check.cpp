// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/cache_check.hpp"

#include <algorithm>
#include <chrono>

namespace evictd::observe {
namespace {

// Page cache may change by some 10 MiB in a millisecond. Near a threshold the timer counts every 1 to 10 ms; a count
// that is older says nothing about this pass.
constexpr auto comparable_for = std::chrono::milliseconds(10);

// Pages on their way to a list (31 folios a CPU), and what a busy disk reads between two counts. Half of it would find
// differences where there are none; smaller ones do not matter for any threshold.
constexpr Bytes least_difference = 4_MiB;
constexpr std::int64_t least_share = 100;  // of the page cache

// One difference may be a file that was read in between. Two in a row seldom are.
constexpr int differences_reported = 2;

bool differ(const port::RootCount& a, const port::RootCount& b) {
    const Bytes tolerance = std::max(least_difference, Bytes{(a.inactive_file + a.active_file).value / least_share});
    return std::max(a.inactive_file - b.inactive_file, b.inactive_file - a.inactive_file) > tolerance;
}

std::string mib(Bytes bytes) { return std::to_string(bytes.value >> 20U) + " MiB"; }

}  // namespace

std::optional<port::RootCount> CacheCheck::settle(const port::RootCount& counted, bool uncertain) {
    const auto timer = usage_.timer_count();
    const bool comparable = timer && std::max(timer->at - counted.at, counted.at - timer->at) <= comparable_for;
    const bool differs = comparable && differ(counted, *timer);
    if (comparable && !differs) {
        differed_ = 0;
        trouble_.clear();
    }
    if (!differs && !uncertain) {
        return counted;
    }
    auto controller = usage_.controller_count();
    if (!controller) {
        trouble_ = "the pods' page cache is uncertain: " + controller.error().text();
        return std::nullopt;
    }
    // Alone it decides nothing: the kernel may leave its counters as they are for 2 s, also when memory.stat is read.
    const bool agrees = *controller && (!differ(**controller, counted) || (differs && !differ(**controller, *timer)));
    const bool is_taken = *controller && (uncertain || agrees);
    differed_ += differs ? 1 : 0;
    if (differed_ < differences_reported) {
        trouble_.clear();
    } else if (differs && differed_ == differences_reported) {
        trouble_ = "the pods' page cache is counted in two ways that differ: " + mib(counted.inactive_file) +
                   " inactive by the look, " + mib(timer->inactive_file) + " by the timer" +
                   (is_taken ? "; the memory controller's own figure is used, " + mib((*controller)->inactive_file)
                             : std::string());
    }
    auto settled = is_taken ? **controller : counted;
    settled.at = counted.at;
    return settled;
}

Bytes late_cache(const port::RootCount& controller, Bytes usage, Bytes uncounted_cache) {
    const Bytes missing = usage - controller.accounted.value_or(usage);
    return missing > least_difference ? std::min(missing, uncounted_cache) : Bytes{0};
}

}  // namespace evictd::observe

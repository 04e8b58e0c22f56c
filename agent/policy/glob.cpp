// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "glob.hpp"

#include <cstddef>

namespace evictd::policy {

// Only the last star is ever gone back to: an earlier one could not match better.
bool matches(std::string_view pattern, std::string_view name) {
    std::size_t at = 0;
    std::size_t star = std::string_view::npos;
    std::size_t after_star = 0;
    for (std::size_t i = 0; i < name.size();) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            after_star = i;
        } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[i])) {
            ++at;
            ++i;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            i = ++after_star;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

}  // namespace evictd::policy

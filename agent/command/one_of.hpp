// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The values that an option takes.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "evictd/model/names.hpp"

namespace evictd::command {

// As CLI::IsMember, which help and completion show as "FORMAT:{table,json}", with a message in our words.
[[nodiscard]] inline CLI::Validator one_of(std::vector<std::string> values) {
    auto shown = CLI::detail::join(values, ", ");
    auto listed = CLI::detail::generate_set(values);
    return {[values = std::move(values), shown = std::move(shown)](const std::string& text) {
                const bool known = std::find(values.begin(), values.end(), text) != values.end();
                return known ? std::string{} : "invalid value \"" + text + "\" (expected " + shown + ")";
            },
            std::move(listed)};
}

// The names of an enumeration.
template <Named E>
[[nodiscard]] CLI::Validator one_of() {
    const auto& names = names_of<E>();
    return one_of(std::vector<std::string>(names.begin(), names.end()));
}

}  // namespace evictd::command

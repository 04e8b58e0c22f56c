// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is wrong with a configuration and where, for a person with an editor. Faults are collected, never thrown: all of
// them are reported at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evictd/model/result.hpp"
#include "evictd/model/text.hpp"

namespace evictd::config {

struct Fault {
    std::string file;
    int line = 0;  // from 1; 0: the file as a whole
    int column = 0;
    std::string key;     // dotted, from the top level; empty: no single key
    std::string what;    // the kubelet's own text where it has one
    std::string remedy;  // what would be right
    ErrorKind kind = ErrorKind::invalid;

    // `FILE:LINE: KEY: what (remedy)`, in one line.
    [[nodiscard]] std::string text() const;
    friend bool operator==(const Fault&, const Fault&) = default;
};
using Faults = std::vector<Fault>;
// More than one hand mends in a sitting, and few enough for a journal: the rest of a file that is all wrong is not
// told.
inline constexpr std::size_t max_faults = 100;

// In quotes, as Go's strconv.Quote writes it, but for what is not ASCII.
[[nodiscard]] std::string go_quoted(std::string_view text);

}  // namespace evictd::config

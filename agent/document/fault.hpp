// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is wrong with a text that a person wrote, and where. Faults are collected, never thrown: all of them are
// reported at once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "evictd/model/result.hpp"
#include "evictd/model/text.hpp"

namespace evictd::document {

struct Fault {
    std::string file;
    int line = 0;        // from 1; 0: the file as a whole
    int column = 0;      // from 1; 0: unknown, as in JSON
    std::string key;     // dotted, from the top level; empty: no single key
    std::string what;    // Kubernetes' own text where it has one
    std::string remedy;  // what would be right
    ErrorKind kind = ErrorKind::invalid;

    // `FILE:LINE: KEY: what (remedy)`, in one line.
    [[nodiscard]] std::string text() const;
    friend bool operator==(const Fault&, const Fault&) = default;
};
using Faults = std::vector<Fault>;
// More than anyone fixes at a time, and few enough for a journal. Further faults are not reported.
inline constexpr std::size_t max_faults = 100;

// Adds a step to a dotted key: `spec`, then `spec.containers`, then `spec.containers[0]`.
void append_name(std::string& key, std::string_view name);
void append_index(std::string& key, std::size_t index);

}  // namespace evictd::document

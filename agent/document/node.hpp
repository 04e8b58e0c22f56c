// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// YAML or JSON text as a tree of values that know their place in the file. Bounded in size and depth before anything
// looks at it. What the values mean is not known here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/fault.hpp"

namespace evictd::document {

// Aliases share the children of what they name, so a tree may be a graph, without circles.
struct Node {
    enum class Kind : std::uint8_t { null, boolean, integer, fraction, text, list, map };
    Kind kind = Kind::null;
    bool is_ambiguous = false;                          // it, or a key below it, is given twice
    int line = 0;                                       // of its key in a map, else of its own beginning
    int column = 0;                                     // 0 in JSON
    std::string key;                                    // in a map
    std::string text;                                   // of a scalar, as it was written
    std::shared_ptr<const std::vector<Node>> children;  // of a list or map, in the file's order

    [[nodiscard]] const std::vector<Node>& each() const;
    [[nodiscard]] const Node* find(std::string_view name) const;  // in a map
};

enum class Syntax { yaml, json };

// Limits of one text. A value takes some 150 bytes of memory, and long text more.
struct Limits {
    std::string_view is_it;  // "a configuration": what the text should have been
    std::size_t bytes;       // of text: more is refused unread
    std::size_t values;      // a list, map, key or scalar is one, and so is each 16 bytes of its text
    // Merge keys are understood, and an alias counts for all that it names. Else neither: for readers that look at
    // single keys only.
    bool expands = true;
};
// A KubeletConfiguration is a few KiB, with some 400 values. yaml-cpp needs up to 250 bytes of memory for a byte of
// text (a row of brackets): twice as much text is twice the 64 MiB of a hostile file.
inline constexpr Limits configuration_limits{"a configuration", std::size_t{256} << 10U, 20'000, false};
// A pod's manifest is a few KiB, a directory's whole content as one List some hundred; the API server refuses objects
// beyond 1.5 MiB. It is mostly text: so many values are out of its reach without aliases of aliases.
inline constexpr Limits manifest_limits{"a Pod manifest", std::size_t{1} << 20U, std::size_t{1} << 18U};
// 10,000 steps over 100 pods are a few MiB. There may be a usage for every pod at every step.
inline constexpr Limits scenario_limits{"a scenario", std::size_t{32} << 20U, std::size_t{3} << 20U};

struct Document {
    Node root;      // null for an empty text, and where it could not be read at all
    Faults faults;  // of the text itself; keys given twice and merge keys leave a root to look for more in
};

// Text that is sound up to a fault gives the documents before it, and one with the fault; keys given twice and merge
// keys leave the documents after them too. Empty documents are left out.
// Never throws.
[[nodiscard]] std::vector<Document> parse(std::string_view text, const std::string& file, Syntax syntax,
                                          const Limits& limits);
// YAML (or JSON) with one document at most: more than one is a fault.
[[nodiscard]] Document parse_one(std::string_view text, const std::string& file, const Limits& limits);

}  // namespace evictd::document

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// YAML text as a tree of plain values that know their place in the file. Bounded in size, depth and number of values
// before anything looks at it. What the values mean is not known here.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/fault.hpp"

namespace evictd::config {

// A KubeletConfiguration is a few KiB. yaml-cpp needs up to 250 bytes of memory for a byte of text (a row of brackets),
// so this is what keeps a hostile file below 64 MiB; twice as much text is twice as much memory.
inline constexpr std::size_t max_yaml_size = std::size_t{256} << 10;

struct Entry;

// Aliases share the node they name, so a tree may be a graph, without circles: look at what you need, do not walk it.
struct Node {
    enum class Kind { null, scalar, list, map };
    Kind kind = Kind::null;
    bool plain = false;  // a scalar without quotes or tag: it may be a number or a boolean
    int line = 0;        // from 1
    int column = 0;
    std::string scalar;
    std::vector<std::shared_ptr<const Node>> items;  // of a list
    std::vector<Entry> entries;                      // of a map, in the file's order
};
using NodePtr = std::shared_ptr<const Node>;

struct Entry {
    std::string key;
    int line = 0;
    int column = 0;
    NodePtr value;
};

struct YamlTree {
    NodePtr root;  // nullptr: nothing could be read. An empty file has a null node.
    Faults faults;
};

// The one document of a file. Faults carry `file`.
[[nodiscard]] YamlTree parse_yaml(std::string_view text, const std::string& file);

}  // namespace evictd::config

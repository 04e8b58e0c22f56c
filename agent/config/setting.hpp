// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One key of a configuration with its value and its place: read as what it should be, or a fault is noted there. Knows
// types and YAML, not what a key means.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fault.hpp"
#include "config/yaml_tree.hpp"
#include "evictd/model/units.hpp"

namespace evictd::config {

class Setting {
public:
    // The document itself: a setting without a name. `faults` outlives it.
    Setting(Faults& faults, std::string file, NodePtr root);

    [[nodiscard]] const std::string& name() const { return name_; }  // the last part of key()
    [[nodiscard]] const std::string& key() const { return key_; }
    [[nodiscard]] int line() const { return line_; }
    [[nodiscard]] bool absent() const { return node_->kind == Node::Kind::null; }  // `key:` or `key: null`

    void refuse(std::string what, std::string remedy) const;
    // Its place and these words, for what is accepted all the same.
    [[nodiscard]] std::string remark(std::string what, std::string remedy) const;

    // Each notes a fault and returns nothing when the value is of another type.
    [[nodiscard]] std::optional<std::string> text() const;
    [[nodiscard]] std::optional<bool> boolean() const;
    [[nodiscard]] std::optional<std::int64_t> integer(std::int64_t least, std::int64_t most) const;
    [[nodiscard]] std::optional<Duration> duration() const;
    [[nodiscard]] std::vector<Setting> items() const;
    [[nodiscard]] std::vector<Setting> children() const;

private:
    Setting(const Setting& parent, std::string name, std::string key, int line, int column, NodePtr node);
    void refuse_type(std::string_view wanted) const;

    Faults* faults_;
    std::string file_;
    std::string name_;
    std::string key_;
    int line_ = 1;
    int column_ = 1;
    NodePtr node_;
};

// The candidate with the fewest letters to change, whatever its case; the first of equals.
[[nodiscard]] std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace evictd::config

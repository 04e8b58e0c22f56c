// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A place in a JSON value that knows its path, for reading objects whose every field may be absent or wrong. The first
// fault is kept and reading goes on, so a reader is written as if all were well.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "evictd/model/quantity.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"

namespace evictd::kube {

class Field {
public:
    // `fault` gets the first fault: kind invalid, `what` the field's path. All of it must outlive the Field.
    Field(const nlohmann::json& value, std::optional<Error>& fault) : value_(&value), fault_(&fault) {}

    // A field of this object; absent if this is. JSON's null is absent too, as it is to the API server.
    [[nodiscard]] Field operator[](std::string_view name) const;
    [[nodiscard]] std::vector<Field> elements() const;
    [[nodiscard]] bool present() const { return value_ != nullptr; }
    [[nodiscard]] const std::string& path() const { return path_; }

    // nullopt if absent or at fault.
    [[nodiscard]] std::optional<std::string> text() const;
    [[nodiscard]] std::optional<std::int64_t> integer() const;
    [[nodiscard]] std::optional<bool> boolean() const;
    [[nodiscard]] std::optional<Quantity> quantity() const;             // not negative
    [[nodiscard]] std::optional<WallTime> time() const;                 // RFC 3339; Go's zero time is absent
    [[nodiscard]] std::optional<std::chrono::seconds> seconds() const;  // cut off at 68 years, to fit nanoseconds
    [[nodiscard]] std::vector<std::string> names() const;               // of a map's fields that are there
    [[nodiscard]] std::map<std::string, std::string> texts() const;

    void refuse(std::string why, std::string remedy) const;

private:
    Field(const nlohmann::json* value, std::string path, std::optional<Error>* fault)
        : value_(value), path_(std::move(path)), fault_(fault) {}
    [[nodiscard]] std::string named(std::string_view name) const;
    [[nodiscard]] std::string what_it_is() const;

    const nlohmann::json* value_;
    std::string path_;
    std::optional<Error>* fault_;
};

}  // namespace evictd::kube

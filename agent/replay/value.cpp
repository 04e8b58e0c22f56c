// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/value.hpp"

#include <algorithm>

#include "config/setting.hpp"
#include "evictd/model/quantity.hpp"

namespace evictd::replay {

using nlohmann::json;

std::string Value::path() const {
    if (parent_ == nullptr) return {};
    std::string path = parent_->path();
    if (parent_->json_ != nullptr && parent_->json_->is_array()) return path + "[" + std::to_string(index_) + "]";
    if (!path.empty()) path += '.';
    return path + std::string(key_);
}

std::string Value::shown() const {
    switch (json_->type()) {
        case json::value_t::object:
            return "a map";
        case json::value_t::array:
            return "a list";
        case json::value_t::string:
            return "\"" + excerpt(json_->get_ref<const std::string&>()) + "\"";
        default:
            return json_->dump();
    }
}

bool Value::is_a(json::value_t type, const char* wanted) const {
    if (!present()) return false;
    if (json_->type() == type) return true;
    refuse("must be " + std::string(wanted) + ", but is " + shown(), "see evictd replay --help for an example");
    return false;
}

Value Value::at(std::string_view name) const {
    if (!is_a(json::value_t::object, "a map")) return {nullptr, this, name};
    const auto found = json_->find(name);
    return {found == json_->end() ? nullptr : &*found, this, name};
}

void Value::allow(std::span<const std::string_view> names) const {
    each_field([&](const Value& field) {
        if (std::find(names.begin(), names.end(), field.key()) == names.end()) field.refuse_unknown("key", names);
    });
}

std::optional<std::string_view> Value::text() const {
    if (!present()) return std::nullopt;
    if (json_->is_string()) return json_->get_ref<const std::string&>();
    refuse("must be text, but is " + shown(), "put it in quotes if it is meant as text");
    return std::nullopt;
}

std::optional<bool> Value::boolean() const {
    if (!present()) return std::nullopt;
    if (json_->is_boolean()) return json_->get<bool>();
    refuse("must be true or false, but is " + shown(), "write true or false, without quotes");
    return std::nullopt;
}

std::optional<std::int64_t> Value::whole(std::int64_t least, std::int64_t most) const {
    if (!present()) return std::nullopt;
    if (json_->is_number_integer()) {
        const bool fits = !json_->is_number_unsigned() || json_->get<std::uint64_t>() <= INT64_MAX;
        const std::int64_t number = fits ? json_->get<std::int64_t>() : INT64_MAX;
        if (number >= least && number <= most) return number;
    }
    refuse(
        "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most) + ", but is " + shown(),
        "write digits only, without quotes");
    return std::nullopt;
}

std::optional<std::int64_t> Value::amount(std::int64_t most) const {
    if (!present()) return std::nullopt;
    if (json_->is_number_unsigned() && json_->get<std::uint64_t>() <= static_cast<std::uint64_t>(most)) {
        return json_->get<std::int64_t>();
    }
    if (!json_->is_string() && !json_->is_number()) {
        refuse("must be a quantity, but is " + shown(), "write it as 64Mi, 1.5Gi or 2000");
        return std::nullopt;
    }
    const auto parsed =
        json_->is_string() ? parse_quantity(json_->get_ref<const std::string&>()) : parse_quantity(json_->dump());
    if (parsed && parsed->sign() >= 0 && parsed->value() <= most) return parsed->value();
    const std::string fault = !parsed              ? excerpt(parsed.error().why)
                              : parsed->sign() < 0 ? "must not be negative"
                                                   : "is more than any node has";
    refuse(fault + ": " + shown(), "write it as 64Mi, 1.5Gi or 2000");
    return std::nullopt;
}

std::optional<Duration> Value::duration() const {
    if (!present()) return std::nullopt;
    if (json_->is_number() && *json_ == 0) return Duration::zero();
    if (json_->is_string()) {
        auto parsed = parse_duration(json_->get_ref<const std::string&>());
        if (parsed) return *parsed;
        refuse(excerpt(parsed.error().why), "a duration is numbers with units, such as 90s, 5m or 1h30m");
    } else {
        refuse("must be a duration, but is " + shown(), "a duration is numbers with units, such as 90s, 5m or 1h30m");
    }
    return std::nullopt;
}

void Value::refuse(std::string why, std::string remedy) const {
    if (!*fault_) *fault_ = Error{ErrorKind::invalid, path(), std::move(why), std::move(remedy)};
}

void Value::refuse_within(const Error& error) const {
    if (has_fault()) return;
    *fault_ = error;
    (*fault_)->what = path() + (error.what.empty() ? "" : "." + error.what);
}

void Value::refuse_unknown(std::string_view what, std::span<const std::string_view> known) const {
    if (has_fault()) return;
    refuse("unknown " + std::string(what), "did you mean " + std::string(config::nearest(key_, known)) + "?");
}

}  // namespace evictd::replay

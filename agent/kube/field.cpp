// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Typed access with the API server's strictness: a number is no string, and a string no number.
#include "kube/field.hpp"

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "evictd/model/text.hpp"

namespace evictd::kube {

using nlohmann::json;

std::string Field::named(std::string_view name) const {
    return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

// "the number 5", for messages.
std::string Field::what_it_is() const {
    if (value_->is_object()) return "a map";
    if (value_->is_array()) return "a list";
    if (value_->is_string()) return "the text " + in_quotes(value_->get_ref<const std::string&>());
    if (value_->is_boolean()) return std::string("the truth value ") + (value_->get<bool>() ? "true" : "false");
    return "the number " + value_->dump();
}

Field Field::operator[](std::string_view name) const {
    if (!present()) return {nullptr, named(name), fault_};
    if (!value_->is_object()) {
        refuse("must be a map, but is " + what_it_is(), "see the Pod reference of Kubernetes for its fields");
        return {nullptr, named(name), fault_};
    }
    const auto found = value_->find(name);
    const bool there = found != value_->end() && !found->is_null();
    return {there ? &*found : nullptr, named(name), fault_};
}

std::vector<Field> Field::elements() const {
    if (!present()) return {};
    if (!value_->is_array()) {
        refuse("must be a list, but is " + what_it_is(), "begin each element with \"- \"");
        return {};
    }
    std::vector<Field> all;
    all.reserve(value_->size());
    for (const json& element : *value_)
        all.push_back({&element, path_ + "[" + std::to_string(all.size()) + "]", fault_});
    return all;
}

std::optional<std::string> Field::text() const {
    if (!present()) return std::nullopt;
    if (value_->is_string()) return value_->get<std::string>();
    refuse("must be text, but is " + what_it_is(),
           value_->is_structured() ? "write one word" : "put it in quotes if it is meant as text");
    return std::nullopt;
}

std::optional<std::int64_t> Field::integer() const {
    if (!present()) return std::nullopt;
    if (value_->is_number_integer()) {
        const bool fits = !value_->is_number_unsigned() ||
                          value_->get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
        if (fits) return value_->get<std::int64_t>();
    }
    refuse("must be a whole number, but is " + what_it_is(), "write digits only, without quotes");
    return std::nullopt;
}

std::optional<bool> Field::boolean() const {
    if (!present()) return std::nullopt;
    if (value_->is_boolean()) return value_->get<bool>();
    refuse("must be true or false, but is " + what_it_is(), "write true or false, without quotes");
    return std::nullopt;
}

std::optional<WallTime> Field::time() const {
    const auto written = text();
    // metav1.Time's zero value, as its String and older clients write it.
    if (!written || *written == "0001-01-01T00:00:00Z") return std::nullopt;
    const auto time = parse_rfc3339(*written);
    if (!time) refuse("is no time: " + in_quotes(*written), "write it as 2026-01-31T12:00:00Z");
    return time;
}

std::optional<std::chrono::seconds> Field::seconds() const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const auto number = integer();
    if (!number) return std::nullopt;
    return std::chrono::seconds(std::clamp(*number, -most, most));
}

std::vector<std::string> Field::names() const {
    std::vector<std::string> all;
    if (!present() || !value_->is_object()) return all;
    for (const auto& [name, value] : value_->items())
        if (!value.is_null()) all.push_back(name);
    return all;
}

std::optional<Quantity> Field::quantity() const {
    if (!present()) return std::nullopt;
    if (!value_->is_string() && !value_->is_number()) {
        refuse("must be a quantity, but is " + what_it_is(), "write it as 500m, 64Mi or 2");
        return std::nullopt;
    }
    const auto parsed = parse_quantity(value_->is_string() ? value_->get<std::string>() : value_->dump());
    if (parsed && parsed->sign() >= 0) return *parsed;
    refuse((parsed ? "must not be negative" : parsed.error().why) + ", but is " + what_it_is(),
           "write it as 500m, 64Mi or 2");
    return std::nullopt;
}

std::map<std::string, std::string> Field::texts() const {
    if (!present()) return {};
    if (!value_->is_object()) {
        refuse("must be a map, but is " + what_it_is(), "write name: \"text\"");
        return {};
    }
    std::map<std::string, std::string> all;
    for (const auto& [name, value] : value_->items()) {
        if (auto text = (*this)[name].text()) all.emplace(name, std::move(*text));
    }
    return all;
}

void Field::refuse(std::string why, std::string remedy) const {
    if (!*fault_) *fault_ = Error{ErrorKind::invalid, path_, std::move(why), std::move(remedy)};
}

}  // namespace evictd::kube

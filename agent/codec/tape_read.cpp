// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "tape_read.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace evictd::codec {

std::string ValueReader::fault() const { return place_.empty() ? why_ : place_ + ": " + why_; }

bool ValueReader::read(const Json& json, bool& into) {
    const auto* value = json.get_ptr<const bool*>();
    if (value == nullptr) return refuse("neither true nor false");
    into = *value;
    return true;
}

bool ValueReader::read(const Json& json, float& into) {
    const auto* text = text_of(json);
    if (text == nullptr) return refuse("not the text of a number");
    const auto* end = text->data() + text->size();
    const auto parsed = std::from_chars(text->data(), end, into);
    return (parsed.ec == std::errc{} && parsed.ptr == end) || refuse("not the text of a number");
}

bool ValueReader::read(const Json& json, std::string& into) {
    const auto* text = text_of(json);
    if (text == nullptr) return refuse("not a text");
    into = *text;
    return true;
}

bool ValueReader::read(const Json& json, Quantity& into) {
    const auto* text = text_of(json);
    const auto quantity = text == nullptr ? std::nullopt : quantity_from_tape(*text);
    if (!quantity) return refuse("not a quantity");
    into = *quantity;
    return true;
}

bool ValueReader::read(const Json& json, PodPtr& into) {
    std::uint32_t number = 0;
    if (!read(json, number)) return false;
    into = pod_at_(number);
    return into != nullptr || refuse("no pod has this number");
}

bool ValueReader::read(const Json& json, RuntimePtr& into) {
    std::uint32_t number = 0;
    if (!read(json, number)) return false;
    if (runtime_at_) into = runtime_at_(number);
    return into != nullptr || refuse("no inventory has this number");
}

bool ValueReader::read(const Json& json, MonotonicTime& into) {
    Duration since{};
    if (!read(json, since)) return false;
    into = MonotonicTime(since);
    return true;
}

bool ValueReader::read(const Json& json, WallTime& into) {
    Duration since{};
    if (!read(json, since)) return false;
    into = WallTime(since);
    return true;
}

bool ValueReader::read(const Json& json, GarbageList& into) {
    std::vector<Garbage> list;
    const bool good = read(json, list);
    into = GarbageList(std::move(list));
    return good;
}

bool ValueReader::read(const Json& json, std::map<std::string, std::string>& into) {
    into.clear();
    if (!json.is_object()) return refuse("not an object");
    for (const auto& [name, value] : json.items()) {
        if (!read(value, into[name], name)) return false;
    }
    return true;
}

bool ValueReader::read_struct(const Json& json, Members members, void* whole) {
    if (!json.is_object()) return refuse("not an object");
    std::size_t known = 0;
    for (const auto& member : members) {
        void* into = member.in_mutable(whole);
        const auto* found = value_at(json, member.name);
        if (found == nullptr) {
            member.actions->make_empty(into);
            continue;
        }
        ++known;
        if (!member.actions->read(*this, *found, into)) return prepend(member.name);
    }
    return known == json.size() || has_only_retired_keys_besides(json, members, known);
}

bool ValueReader::has_only_retired_keys_besides(const Json& json, Members members, std::size_t known) {
    // Of tapes of older agents: State::ended had the first.
    constexpr std::array<std::string_view, 1> retired{"awaited_long"};
    for (const auto& [name, value] : json.items()) {
        const auto same = [&key = name](const Member& member) { return member.name == key; };
        if (std::any_of(members.begin(), members.end(), same)) continue;
        if (std::find(retired.begin(), retired.end(), name) == retired.end())
            return refuse("unknown key '" + printable(name).substr(0, 60) + "'");
        ++known;
    }
    return known == json.size() || refuse("a key is given twice");
}

std::optional<Int128> ValueReader::whole_number(const Json& json) {
    if (const auto* value = json.get_ptr<const Json::number_unsigned_t*>()) return *value;
    if (const auto* value = json.get_ptr<const Json::number_integer_t*>()) return *value;
    return std::nullopt;
}

const ValueReader::Json* ValueReader::value_at(const Json& json, std::string_view key) {
    const auto found = json.find(key);
    return found == json.end() ? nullptr : &*found;
}

const std::string* ValueReader::text_of(const Json& json) { return json.get_ptr<const std::string*>(); }

const ValueReader::Json::array_t* ValueReader::list_of(const Json& json) {
    return json.get_ptr<const Json::array_t*>();
}

const ValueReader::Json::object_t::value_type* ValueReader::only_member(const Json& json) {
    const auto* members = json.get_ptr<const Json::object_t*>();
    return members != nullptr && members->size() == 1 ? &*members->begin() : nullptr;
}

std::string ValueReader::place_in_list(std::size_t index) { return "[" + std::to_string(index) + "]"; }

bool ValueReader::refuse(std::string_view why) {
    why_ = why;
    return false;
}

bool ValueReader::prepend(std::string_view name) {
    const bool joined = place_.empty() || place_.front() == '[';
    place_ = printable(name).substr(0, 60) + (joined ? "" : ".") + place_;
    return false;
}

}  // namespace evictd::codec

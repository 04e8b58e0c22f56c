// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "cri/fields.hpp"

#include <algorithm>
#include <utility>

namespace evictd::cri {
namespace {

constexpr std::int64_t largest_size = std::int64_t{1} << 60U;
constexpr std::size_t longest_id = 256;
constexpr std::int64_t year_2200 = 7'258'118'400'000'000'000;

tl::unexpected<Error> wrong(const Field& field, const char* why) {
    return fail(ErrorKind::invalid, "protobuf message", "field " + std::to_string(field.number) + " " + why);
}

}  // namespace

Status take_text(const Field& field, std::string& into) {
    if (field.type != Field::Type::bytes) return wrong(field, "is no text");
    into = field.bytes;
    return {};
}

Status take_number(const Field& field, std::int64_t& into) {
    if (field.type != Field::Type::varint) return wrong(field, "is no number");
    into = static_cast<std::int64_t>(field.varint);
    return {};
}

Status take_count(const Field& field, std::uint32_t& into) {
    std::int64_t value = 0;
    auto taken = take_number(field, value);
    into = static_cast<std::uint32_t>(value);  // as protobuf cuts off a number that is too large for its type
    return taken;
}

Status take_flag(const Field& field, bool& into) {
    std::int64_t value = 0;
    auto taken = take_number(field, value);
    into = value != 0;
    return taken;
}

Status take_time(const Field& field, WallTime& into) {
    std::int64_t value = 0;
    auto taken = take_number(field, value);
    into = WallTime(Duration(value < 0 || value > year_2200 ? 0 : value));
    return taken;
}

Status take_size(const Field& field, std::int64_t& into) {
    if (field.type != Field::Type::varint) return wrong(field, "is no number");
    if (field.varint > static_cast<std::uint64_t>(largest_size)) return wrong(field, "is no size");
    into = static_cast<std::int64_t>(field.varint);
    return {};
}

// Of a message that is empty the number is 0.
Status take_size_value(const Field& field, std::optional<std::int64_t>& into) {
    std::int64_t value = 0;
    auto taken = take_message<std::int64_t>(field, value, [](std::string_view bytes, std::int64_t& number) {
        return for_each_field(
            bytes, [&](const Field& inner) { return inner.number == 1 ? take_size(inner, number) : Status{}; });
    });
    into = value;
    return taken;
}

Status take_entry(const Field& field, RuntimeLabels& into) {
    std::pair<std::string, std::string> entry;
    auto taken =
        take_message<std::pair<std::string, std::string>>(field, entry, [](std::string_view bytes, auto& pair) {
            return for_each_field(bytes, [&](const Field& inner) {
                return inner.number == 1   ? take_text(inner, pair.first)
                       : inner.number == 2 ? take_text(inner, pair.second)
                                           : Status{};
            });
        });
    into.insert_or_assign(std::move(entry.first), std::move(entry.second));
    return taken;
}

Status check_id(const std::string& id, const char* of) {
    const auto is_plain = [](char c) { return c > ' ' && c < '\x7f'; };
    if (!id.empty() && id.size() <= longest_id && std::all_of(id.begin(), id.end(), is_plain)) return {};
    return fail(ErrorKind::invalid, "answer", std::string(of) + " has no valid ID");
}

}  // namespace evictd::cri

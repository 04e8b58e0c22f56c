// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Reads the fields of one message of CRI. What is not known here is passed over, as protobuf has it; a field of another
// type, a size that is none, or bytes that are no message are an error (`invalid`), and nothing of the answer counts.
// For message*.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evictd/model/result.hpp"
#include "evictd/model/runtime.hpp"
#include "evictd/model/units.hpp"
#include "http/wire_reader.hpp"

namespace evictd::cri {

using Field = http::WireField;

// Calls on_field(field) -> Status for each.
template <class OnField>
Status for_each_field(std::string_view message, OnField on_field) {
    http::WireReader reader(message);
    for (;;) {
        const auto field = reader.next();
        if (!field) return tl::unexpected(field.error());
        if (!*field) return {};
        if (auto taken = on_field(**field); !taken) return taken;
    }
}

// Of a field whose type is right. Of a number that is left out, what was in `into` stays.
Status take_text(const Field& field, std::string& into);
Status take_number(const Field& field, std::int64_t& into);  // int32, int64, an enumeration's
Status take_count(const Field& field, std::uint32_t& into);
Status take_flag(const Field& field, bool& into);
// In nanoseconds since 1970. What is not a time between 1970 and 2200 becomes 1970, which says "not known": Go's zero
// time comes as a number from the year 1754.
Status take_time(const Field& field, WallTime& into);
// Of UInt64Value and Int64Value, a message that holds a number. Error: negative, or more than 2^60.
Status take_size(const Field& field, std::int64_t& into);
Status take_size_value(const Field& field, std::optional<std::int64_t>& into);
Status take_entry(const Field& field, RuntimeLabels& into);  // of a map of texts

// A message: read(bytes, into).
template <class Into>
Status take_message(const Field& field, Into& into, Status (*read)(std::string_view bytes, Into& into)) {
    if (field.type != Field::Type::bytes) return fail(ErrorKind::invalid, "protobuf message", "has another type");
    return read(field.bytes, into);
}
template <class Into>
Status take_element(const Field& field, std::vector<Into>& into, Status (*read)(std::string_view bytes, Into& into)) {
    return take_message(field, into.emplace_back(), read);
}

// 1 to 256 characters of printable ASCII without blanks. `of`: "a container".
Status check_id(const std::string& id, const char* of);

}  // namespace evictd::cri

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "http/wire_reader.hpp"

#include <algorithm>
#include <utility>

namespace evictd::http {
namespace {

constexpr unsigned bits_of_a_byte = 7;  // of a varint
constexpr unsigned last_shift = 63;
constexpr unsigned bits_of_the_type = 3;
constexpr std::uint64_t most_of_a_number = (1U << 29U) - 1;

tl::unexpected<Error> not_a_message(const char* why) { return fail(ErrorKind::invalid, "protobuf message", why); }

}  // namespace

Result<std::uint64_t> WireReader::varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift <= last_shift; shift += bits_of_a_byte) {
        if (rest_.empty()) return not_a_message("is cut off");
        const auto byte = static_cast<std::uint8_t>(rest_.front());
        rest_.remove_prefix(1);
        const std::uint64_t bits = byte & 0x7fU;
        if (shift == last_shift && bits > 1) break;
        value |= bits << shift;
        if (byte < 0x80U) return value;
    }
    return not_a_message("has a number of more than 64 bits");
}

Result<std::string_view> WireReader::take(std::uint64_t size) {
    if (size > rest_.size() && of_ == Of::whole) return not_a_message("is cut off");
    const auto taken = rest_.substr(0, std::min<std::uint64_t>(size, rest_.size()));
    rest_.remove_prefix(taken.size());
    return taken;
}

Result<std::optional<WireField>> WireReader::next() {
    if (rest_.empty()) return std::nullopt;
    const auto tag = varint();
    if (!tag) return tl::unexpected(tag.error());
    const std::uint64_t number = *tag >> bits_of_the_type;
    if (number == 0 || number > most_of_a_number) return not_a_message("has an invalid field number");
    WireField field{.number = static_cast<std::uint32_t>(number)};
    const auto type = static_cast<unsigned>(*tag & 7U);
    if (type == 0) {
        const auto value = varint();
        if (!value) return tl::unexpected(value.error());
        field.varint = *value;
        return field;
    }
    if (type != 1 && type != 2 && type != 5) return not_a_message("has an invalid wire type");  // groups too
    field.type = type == 2 ? WireField::Type::bytes : WireField::Type::fixed;
    const auto size = type == 2 ? varint() : Result<std::uint64_t>(type == 1 ? 8 : 4);
    if (!size) return tl::unexpected(size.error());
    const auto bytes = take(*size);
    if (!bytes) return tl::unexpected(bytes.error());
    if (type == 2) field.bytes = *bytes;
    return field;
}

}  // namespace evictd::http

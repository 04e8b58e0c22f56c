// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "http/grpc_status.hpp"

#include <array>
#include <charconv>
#include <cstddef>

namespace evictd::http {

std::string grpc_code_text(int code) {
    constexpr std::array<const char*, 17> names{
        "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
        "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
        "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
        "DATA_LOSS", "UNAUTHENTICATED"};
    const auto index = static_cast<std::size_t>(code);
    return code >= 0 && index < names.size() ? names.at(index) : "code " + std::to_string(code);
}

std::string grpc_message_text(std::string_view encoded) {
    std::string text;
    for (; !encoded.empty(); encoded.remove_prefix(1)) {
        unsigned value = 0;
        if (encoded.size() > 2 && encoded.front() == '%' &&
            std::from_chars(encoded.data() + 1, encoded.data() + 3, value, 16).ptr == encoded.data() + 3) {
            text += static_cast<char>(value);
            encoded.remove_prefix(2);
        } else {
            text += encoded.front();
        }
    }
    return text;
}

}  // namespace evictd::http

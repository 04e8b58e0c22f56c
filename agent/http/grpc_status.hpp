// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// gRPC's status codes (grpc/codes) and messages, as a reply's trailers have them.
#pragma once

#include <string>
#include <string_view>

namespace evictd::http {

// Those that something follows from.
enum class GrpcCode {
    ok = 0,
    cancelled = 1,
    deadline_exceeded = 4,
    not_found = 5,
    permission_denied = 7,
    unimplemented = 12,
    unavailable = 14,
    unauthenticated = 16,
};

// "UNIMPLEMENTED"; of one that is not known here "code 42".
[[nodiscard]] std::string grpc_code_text(int code);
// Of a percent-encoded grpc-message. What is no encoding stays as it is. Any bytes may come of it.
[[nodiscard]] std::string grpc_message_text(std::string_view encoded);

}  // namespace evictd::http

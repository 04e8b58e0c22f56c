// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The event stream as JSON, one object a line: what the log file, stdout and the socket carry. Its keys are promises.
#pragma once

#include <string>
#include <string_view>

#include "event.hpp"
#include "evictd/model/result.hpp"

namespace evictd::codec {

// Without the newline. Bytes that are not UTF-8 are replaced, so every line is valid JSON.
[[nodiscard]] std::string to_json_line(const Event& event, std::string_view node);

// Unknown keys are skipped: a newer agent may say more. The error's `what` is "event".
[[nodiscard]] Result<Event> event_from_json(std::string_view line);

}  // namespace evictd::codec

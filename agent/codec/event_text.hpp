// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One event as one readable line, for a terminal or a console log.
#pragma once

#include <string>

#include "event.hpp"
#include "text_style.hpp"

namespace evictd::codec {

// "18:02:11.123456 Warning Evicted default/web: ... (1.2 ms) id=2f6c01e9ab". Never cut: a message is what a person came
// for.
[[nodiscard]] std::string to_text_line(const Event& event, const TextStyle& style);

// "1.21 ms = detect 41 us + decide 95 us + act 1.07 ms, empty after 12 ms"; empty when nothing was measured.
[[nodiscard]] std::string latency_breakdown(const EventLatency& latency);

}  // namespace evictd::codec

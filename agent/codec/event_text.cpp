// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One event as one readable line. The facts a tool needs are in event_json.
#include "event_text.hpp"

#include "evictd/model/text.hpp"

namespace evictd::codec {

std::string latency_breakdown(const EventLatency& latency) {
    std::string parts;
    const auto add = [&](const char* label, const std::optional<Duration>& span) {
        if (span) parts += (parts.empty() ? "" : " + ") + std::string(label) + " " + latency_text(*span);
    };
    add("detect", latency.detect);
    add("decide", latency.decide);
    add("act", latency.act);
    std::string text = latency.total ? latency_text(*latency.total) + (parts.empty() ? "" : " = " + parts) : parts;
    if (latency.empty) text += (text.empty() ? "empty after " : ", empty after ") + latency_text(*latency.empty);
    if (latency.api) text += (text.empty() ? "API server after " : ", API server after ") + latency_text(*latency.api);
    return text;
}

std::string to_text_line(const Event& event, const TextStyle& style) {
    const bool warning = event.severity == Severity::warning;
    std::string line = toned(time_of_day(event.time, style.utc_offset), Tone::dim, style);
    line += warning ? " " + toned("Warning", Tone::yellow, style) : " " + toned("Normal ", Tone::dim, style);
    line += " " + toned(printable(event.reason.text()), warning ? Tone::bold : Tone::plain, style);
    if (event.pod) line += " " + printable(event.pod->name_space + "/" + event.pod->name);
    line += ": " + printable(event.message);
    if (!event.error.empty() && event.message.find(event.error) == std::string::npos) {
        line += ": " + toned(printable(event.error), Tone::red, style);
    }
    if (const auto latency = latency_breakdown(event.latency); !latency.empty()) line += " (" + latency + ")";
    if (event.dry_run) line += " [dry run]";
    if (!event.id.empty()) line += " " + toned("id=" + printable(event.id), Tone::dim, style);
    return line;
}

}  // namespace evictd::codec

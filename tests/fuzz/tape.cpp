// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Any bytes as a tape: whatever of it can be read can be decided over, by its own configuration and by another, and is
// told on one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "codec/decision_json.hpp"
#include "codec/tape_json.hpp"
#include "replay/difference.hpp"
#include "replay/tape_player.hpp"
#include "replay/what_if.hpp"

namespace {

evictd::EvictionConfig other_config() {
    evictd::EvictionConfig config;
    for (std::size_t i = 0; i < evictd::signal_count; ++i) {
        evictd::Threshold threshold;
        threshold.signal = static_cast<evictd::Signal>(i);
        threshold.value.value = 0.5F;
        config.thresholds.push_back(threshold);
    }
    return config;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(bytes), size);
    evictd::codec::TapeReader reader;
    evictd::replay::TapePlayer player;
    evictd::replay::WhatIf what_if(other_config());
    evictd::replay::Differences differences(evictd::replay::Differences::Format::text, "as recorded", "with other");
    std::string told;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const auto line = reader.read(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (!line) {
            if (line.error().text().find('\n') != std::string::npos) std::abort();
            continue;
        }
        const auto* look = std::get_if<evictd::codec::TapeLook>(&*line);
        if (look == nullptr) continue;
        const auto played = player.play(*look, true);
        if (played.line.find('\n') != std::string::npos) std::abort();
        const auto with = what_if.play(*look, played.decision);
        differences.look(
            "now", {played.decision, look->observation, played.line},
            {with.decision, with.observation, evictd::codec::decision_line(with.decision, with.observation)}, told);
    }
    differences.summary(told);
    return 0;
}

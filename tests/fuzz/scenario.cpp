// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Any bytes as a scenario: refused with one line, or played. Nothing may crash, hang or grow without bound, a line is
// JSON, and playing twice gives the same lines.
#include "replay/scenario.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "replay/player.hpp"
#include "replay/step_json.hpp"
#include "replay/step_text.hpp"

namespace {

using namespace evictd;

constexpr std::size_t most_steps = 20;

std::string play(const replay::Scenario& scenario) {
    replay::Player player(scenario);
    std::string lines;
    const std::size_t count = std::min(scenario.steps.size(), most_steps);
    for (std::size_t i = 0; i < count; ++i) {
        const auto result = player.play(scenario.steps[i]);
        if (result.decision.evict && !result.decision.limit_evictions.empty()) std::abort();
        std::string line;
        replay::append_json(scenario, result, line);
        if (line.find('\n') != line.size() - 1 || !nlohmann::json::accept(line)) std::abort();
        std::string text;
        replay::append_text(scenario, result, {}, text);
        if (text.empty()) std::abort();
        lines += line;
    }
    return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(input), size);
    const auto scenario = replay::parse_scenario(text, "fuzz.yaml");
    if (!scenario) {
        for (const auto& fault : scenario.error())
            if (fault.what.empty() || fault.remedy.empty() || fault.text().find('\n') != std::string::npos)
                std::abort();
        if (scenario.error().empty()) std::abort();
        return 0;
    }
    if (play(*scenario) != play(*scenario)) std::abort();
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A scenario's text played to its lines, and what tests ask of a line.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "replay/player.hpp"
#include "replay/scenario.hpp"
#include "replay/step_json.hpp"

namespace evictd::replay {

// The fault's one line; empty: there is none.
inline std::string fault_of(std::string_view text) {
    const auto scenario = parse_scenario(text, "s.yaml");
    return scenario ? "" : scenario.error().front().text();
}

inline std::vector<std::string> play_lines(std::string_view text) {
    const auto scenario = parse_scenario(text, "s.yaml");
    if (!scenario) throw std::runtime_error(scenario.error().front().text());
    Player player(*scenario);
    std::vector<std::string> lines;
    for (const Step& step : scenario->steps) append_json(*scenario, player.play(step), lines.emplace_back());
    for (auto& line : lines) line.pop_back();
    return lines;
}

inline std::vector<nlohmann::ordered_json> play(std::string_view text) {
    std::vector<nlohmann::ordered_json> steps;
    for (const auto& line : play_lines(text)) steps.push_back(nlohmann::ordered_json::parse(line));
    return steps;
}

// Three pods of one container: a is 500Mi over its request, b 300Mi, and the critical one most of all.
inline const std::string memory_node = R"(
config: {evictionHard: {memory.available: 1Gi}, enforceNodeAllocatable: [none], evictionPressureTransitionPeriod: 1m}
node: {capacity: {memory: 3Gi}}
pods:
- {metadata: {name: a, namespace: ns, uid: uid-a}, spec: {containers: [{name: c, resources: {requests: {memory: 100Mi}}}]}, status: {phase: Running}}
- {metadata: {name: b, namespace: ns, uid: uid-b}, spec: {containers: [{name: c, resources: {requests: {memory: 100Mi}}}]}, status: {phase: Running}}
- {metadata: {name: system, namespace: ns, uid: uid-s}, spec: {priority: 2000000000, containers: [{name: c}]}, status: {phase: Running}}
steps:
- at: 0s
  available: {memory.available: 2Gi}
  usage: {ns/a: {memory: 600Mi}, ns/b: {memory: 400Mi}, ns/system: {memory: 900Mi}}
)";

}  // namespace evictd::replay

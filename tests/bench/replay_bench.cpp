// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What `evictd replay -o json` costs: a scenario's text to its lines, 1,000 steps over 100 pods with four changed
// figures in each. Reading the file and printing are left out: together less than a millisecond.
#include <string>

#include <benchmark/benchmark.h>

#include "replay/player.hpp"
#include "replay/scenario.hpp"
#include "replay/step_json.hpp"

namespace evictd {
namespace {

constexpr int pods = 100;
constexpr int steps = 1000;

std::string pod_name(int number) { return "pod-" + std::to_string(number % pods); }
std::string mebibytes(int number) { return std::to_string(number * 7919 % 900 + 1) + "Mi"; }

// Available memory goes up and down across the threshold, so that pods are evicted until none is left to go.
std::string scenario_json() {
    std::string text = R"({"version":1,"config":{"evictionHard":{"memory.available":"500Mi"}},)"
                       R"("node":{"capacity":{"memory":"8Gi"}},"pods":[)";
    for (int i = 0; i < pods; ++i) {
        text += (i == 0 ? "" : ",") + (R"({"metadata":{"name":")" + pod_name(i)) + R"("},"spec":{"priority":)" +
                std::to_string(i % 5) + R"(,"containers":[{"name":"app","resources":{"requests":{"memory":")" +
                mebibytes(i) + R"("}}}]}})";
    }
    text += R"(],"steps":[)";
    for (int i = 0; i < steps; ++i) {
        text += (i == 0 ? "" : ",") + (R"({"at":")" + std::to_string(i)) + R"(s","available":{"memory.available":")" +
                std::to_string(i * 31 % 4000 + 300) + R"(Mi"},"usage":{)";
        for (int k = 0; k < (i == 0 ? pods : 4); ++k) {
            text += (k == 0 ? "" : ",") + (R"("default/)" + pod_name(i == 0 ? k : i * 13 + k * 17)) +
                    R"(":{"memory":")" + mebibytes(i + k) + R"("})";
        }
        text += "}}";
    }
    return text + "]}";
}

// The same as people write it. JSON's own brackets are YAML too, but nobody writes those by hand.
std::string scenario_yaml() {
    std::string text =
        "version: 1\nconfig: {evictionHard: {memory.available: 500Mi}}\nnode: {capacity: {memory: 8Gi}}\npods:\n";
    for (int i = 0; i < pods; ++i) {
        text += "- metadata: {name: " + pod_name(i) + "}\n  spec: {priority: " + std::to_string(i % 5) +
                ", containers: [{name: app, resources: {requests: {memory: " + mebibytes(i) + "}}}]}\n";
    }
    text += "steps:\n";
    for (int i = 0; i < steps; ++i) {
        text += "- at: " + std::to_string(i) +
                "s\n  available: {memory.available: " + std::to_string(i * 31 % 4000 + 300) + "Mi}\n  usage:\n";
        for (int k = 0; k < (i == 0 ? pods : 4); ++k) {
            text += "    default/" + pod_name(i == 0 ? k : i * 13 + k * 17) + ": {memory: " + mebibytes(i + k) + "}\n";
        }
    }
    return text;
}

void replay(benchmark::State& state, const std::string& text) {
    for (auto _ : state) {
        const auto scenario = replay::parse_scenario(text, "bench");
        if (!scenario) {
            state.SkipWithError(scenario.error().front().text().c_str());
            break;
        }
        replay::Player player(*scenario);
        std::string out;
        for (const auto& step : scenario->steps) replay::append_json(*scenario, player.play(step), out);
        benchmark::DoNotOptimize(out.data());
    }
}

void replay_json(benchmark::State& state) { replay(state, scenario_json()); }
void replay_yaml(benchmark::State& state) { replay(state, scenario_yaml()); }

BENCHMARK(replay_json)->Unit(benchmark::kMillisecond);
BENCHMARK(replay_yaml)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace evictd

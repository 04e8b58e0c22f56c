// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The command line of the demo: for `evictd demo`, which completes, checks and passes it on, and for evictd-demo, which
// plays.
#pragma once

#include <string>
#include <string_view>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace evictd::command {

inline constexpr std::string_view demo_about =
    "Show the main job on this machine: real pods, real pressure, one eviction; then clean up (needs root)";

struct DemoOptions {
    std::string scenario = "spike";
    std::string output = "text";
    bool no_bpf = false;
    bool no_steering = false;
};

// Adds the options to `program`; `options` must live until it was parsed.
void add_demo_options(CLI::App& program, DemoOptions& options);

}  // namespace evictd::command

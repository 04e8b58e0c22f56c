// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The command line of the demo: for `evictd demo`, which completes, checks and passes it on, and for evictd-demo, which
// plays.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "evictd/model/names.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace evictd::command {

inline constexpr std::string_view demo_about =
    "Show the main job on this machine: real pods, real pressure, one eviction; then clean up (needs root)";

enum class Scenario : std::uint8_t {
    spike,      // a pod takes memory as fast as the machine lets it
    leak,       // a pod takes memory slowly, and exits when it is asked to
    pagecache,  // a pod fills its cgroup with page cache: no reason to evict any pod
    sockets,    // a pod opens connections that take memory: it gets no more of them until memory is back
    oomrace,    // the kernel's OOM killer is faster: which pod does it kill?
    thrash,     // a pod reads the same files again and again and they do not fit: bytes are free, and tasks stall
};

// No Scenario, because their pods are not the demo's: scripts of the source tree play them (demo/source_script).
inline constexpr std::string_view cluster_scenario = "cluster";
inline constexpr std::string_view disk_scenario = "disk";
inline constexpr std::string_view forkbomb_scenario = "forkbomb";
[[nodiscard]] constexpr bool is_script(std::string_view scenario) {
    return scenario == cluster_scenario || scenario == disk_scenario || scenario == forkbomb_scenario;
}

struct DemoOptions {
    std::string scenario = "spike";
    std::string output = "text";
    bool no_bpf = false;
    bool no_steering = false;
};

// Adds the options to `program`, and the check of those that go together; `options` must live until it was parsed.
void add_demo_options(CLI::App& program, DemoOptions& options);

}  // namespace evictd::command

namespace evictd {

template <>
struct Names<command::Scenario> {
    static constexpr Words<6> words{"spike", "leak", "pagecache", "sockets", "oomrace", "thrash"};
};

}  // namespace evictd

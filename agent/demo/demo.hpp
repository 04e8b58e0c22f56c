// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd demo: the main job on this machine, by itself. Real pods, the real agent, real pressure; a verdict at the end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codec/text_style.hpp"
#include "demo/scenario.hpp"
#include "evictd/model/result.hpp"

namespace evictd::demo {

struct DemoOptions {
    Scenario scenario = Scenario::spike;
    std::string agent;     // the path of evictd
    bool json = false;     // the agent's event records on stdout, and nothing else
    bool bpf = true;       // false: the agent does without
    bool steering = true;  // of oomrace; false: to see whom the kernel takes by itself
    std::function<codec::TextStyle()> style;
    std::function<int()> rows;  // of the terminal; 0: it is none
};

// What was wrong, a line each; empty: the right pod was evicted, and only it. An Error: it could not be played, or was
// interrupted. Whatever comes of it, everything it made is gone when it returns.
[[nodiscard]] Result<std::vector<std::string>> run_demo(const DemoOptions& options);

}  // namespace evictd::demo

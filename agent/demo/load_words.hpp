// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the load generator is told to do in each pod. It is this program itself, started again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "demo/scenario.hpp"

namespace evictd::demo {

inline constexpr std::string_view program_name = "evictd-demo";
// The first argument of a process that is a load. Not in --help: it is for the demo's own pods.
inline constexpr std::string_view load_verb = "load";

// The command line of the load in `pod`, one of `plan`'s. `files` is the directory for its files.
[[nodiscard]] std::vector<std::string> load_words(const Plan& plan, const PodPlan& pod, const std::string& files);

}  // namespace evictd::demo

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The command line: one file a verb, all built from the same parts as the agent.
#pragma once

namespace evictd::cli {

// The whole program; its exit code is main()'s.
[[nodiscard]] int run(int argc, char** argv);

}  // namespace evictd::cli

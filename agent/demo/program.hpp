// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The command line of evictd-demo.
#pragma once

namespace evictd::demo {

// The whole program; its exit code is main()'s.
[[nodiscard]] int run_program(int argc, char** argv);

}  // namespace evictd::demo

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The load generator: memory that is held or grows, page cache, sockets, a fork bomb. It runs in the demo's pods
// (`evictd-demo load`) and in those of the VM tests and benches (`vm_load`), never in the agent. It uses no other
// library of ours, so that it can be linked statically: the VM tests start a thousand of it.
#pragma once

#include <string>
#include <vector>

namespace evictd::load {

// Runs until it is killed. `program` is its name in messages. Wrong usage ends it with exit status 2.
[[noreturn]] void run(const std::string& program, const std::vector<std::string>& words);

}  // namespace evictd::load

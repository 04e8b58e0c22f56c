// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the first process of a demo pod does once it is told to: grows, fills the page cache, opens sockets, or reads
// more files than fit. Each comes back when its work is done or the process should end.
#pragma once

#include "demo/pod_memory.hpp"
#include "demo/pod_process.hpp"

namespace evictd::demo {

void work(const PodProcessOptions& options, Hoard& hoard, std::size_t most);

}  // namespace evictd::demo

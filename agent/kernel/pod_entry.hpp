// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A pod as an entry of the pinned map "pods", read by the BPF programs, bpftool and others.
#pragma once

#include "evictd/abi/settings.h"
#include "evictd/port/kernel_event_source.hpp"

namespace evictd::kernel {

[[nodiscard]] evictd_pod entry_of(const port::ShownPod& shown);

}  // namespace evictd::kernel

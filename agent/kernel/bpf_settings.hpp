// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The programs' settings before the pods' root and the thresholds are known.
#pragma once

#include "evictd/abi/settings.h"
#include "kernel/bpf.hpp"

namespace evictd::kernel {

[[nodiscard]] evictd_settings initial_settings(const BpfOptions& options);

}  // namespace evictd::kernel

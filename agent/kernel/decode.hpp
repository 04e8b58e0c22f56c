// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Records of the ring buffer and rows of the usage iterator, from bytes to values. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "evictd/abi/event.h"
#include "evictd/model/kernel_event.hpp"
#include "evictd/model/result.hpp"
#include "evictd/port/cgroups.hpp"

namespace evictd::kernel {

// None for a record that is too short for its type or of an unknown type.
[[nodiscard]] std::optional<KernelEvent> decode_event(std::span<const std::byte> record);

// What found the ring buffer full between two readings of the map "drops", by cause.
[[nodiscard]] std::vector<EventsLost> lost_between(const evictd_drops& before, const evictd_drops& now);

// Appends whole rows; what is left of an incomplete one is ignored.
void decode_usage(std::span<const std::byte> rows, std::vector<port::CgroupUsage>& into);

}  // namespace evictd::kernel

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the event stream says of memory that pods without a process still hold.
#pragma once

#include "event.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/held_memory.hpp"

namespace evictd::codec {

// Message, figures and id of a MemoryNotReturned. `held`: what its cgroup was charged with; null: that is not known.
void tell_owed(const OwedMemory& owed, const HeldMemory* held, Event& event);

// The kind that makes up most of it: "anon", "file", "shmem", "slab", "page_tables", "kernel"; empty: none is known.
[[nodiscard]] std::string main_kind(const HeldMemory& held);

}  // namespace evictd::codec

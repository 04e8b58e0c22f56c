// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An eviction played through before the real one, up to the signal that is never sent. Memory is locked as it is
// touched: what the kill path runs through for the first time would otherwise be read from disk while memory runs out.
// And what it ran through a moment ago is still in the CPU's caches.
#pragma once

#include <optional>

#include "act/executor.hpp"
#include "evictd/model/config.hpp"
#include "evictd/model/observation.hpp"
#include "sys/clock.hpp"

namespace evictd::app {

// Decides over `observation` as if a threshold on memory were met, and looks for the victim's processes. Nothing is
// signalled, published or remembered. Who would have been evicted; none: the path was not walked to its end.
std::optional<PodUid> rehearse(const EvictionConfig& config, Observation observation, const sys::Clock& clock,
                               const act::Executor::Find& find);

}  // namespace evictd::app

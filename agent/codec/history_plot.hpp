// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What was available, drawn: a small picture for a terminal, with the thresholds as lines and the moments below.
#pragma once

#include <string>

#include "evictd/model/history.hpp"
#include "text_style.hpp"

namespace evictd::codec {

// Lines that end with a newline, none wider than the style's columns (from 40 on); empty where nothing was sampled.
// Times on the axis are relative to `zero`.
[[nodiscard]] std::string plot(const History& history, WallTime zero, const TextStyle& style);

}  // namespace evictd::codec

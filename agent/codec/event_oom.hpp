// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the event stream says of a kill by the kernel's OOM killer, beside its sentence.
#pragma once

#include "event.hpp"
#include "evictd/model/kernel_event.hpp"

namespace evictd::codec {

[[nodiscard]] EventOom event_oom(const OomKill& kill);

}  // namespace evictd::codec

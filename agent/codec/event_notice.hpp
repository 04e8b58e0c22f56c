// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the event stream says of the agent itself: that it started, what it was told, what it could not do.
#pragma once

#include "event.hpp"
#include "evictd/model/record.hpp"

namespace evictd::codec {

[[nodiscard]] Event notice_event(const AgentNotice& notice);

}  // namespace evictd::codec

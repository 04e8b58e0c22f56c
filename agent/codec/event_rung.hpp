// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the event stream says of the ladder before the kill.
#pragma once

#include "event.hpp"
#include "evictd/model/ladder.hpp"

namespace evictd::codec {

// False: there is nothing to say of it (the end of a reclaim that a dry run did not do).
[[nodiscard]] bool is_told(const RungOutcome& outcome);

// `relieved`: no memory threshold is met at the look that hears of it.
[[nodiscard]] Reason rung_reason(const RungOutcome& outcome, bool relieved);
// Severity, message and figures.
void tell_rung(const RungOutcome& outcome, bool relieved, Event& event);

}  // namespace evictd::codec

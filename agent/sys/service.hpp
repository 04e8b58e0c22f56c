// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the service manager that started us is told: systemd, or any that speaks its protocol. Without one nothing is
// sent. Not for the kill path: the manager's socket may make its sender wait.
#pragma once

#include <optional>
#include <string>

#include "evictd/model/units.hpp"

namespace evictd::sys::service {

void ready();
void stopping();
void alive(const std::string& status);  // the watchdog's ping; `status` is for people
void status(const std::string& text);   // no ping

// Within this time the manager wants the next ping, or it ends us. None: it does not ask for any.
[[nodiscard]] std::optional<Duration> watchdog();

}  // namespace evictd::sys::service

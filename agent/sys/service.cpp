// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/service.hpp"

#include <cstdint>

#include <systemd/sd-daemon.h>

namespace evictd::sys::service {
namespace {

// An error changes nothing that we could do: the manager misses what it waits for and acts on that.
void send(const std::string& text) { (void)sd_notify(0, text.c_str()); }

}  // namespace

void ready() { send("READY=1\nSTATUS=watching the pods of this node"); }
void stopping() { send("STOPPING=1\nSTATUS=putting back what was changed"); }
void alive(const std::string& status) { send("WATCHDOG=1\nSTATUS=" + status); }
void status(const std::string& text) { send("STATUS=" + text); }

std::optional<Duration> watchdog() {
    std::uint64_t microseconds = 0;
    if (sd_watchdog_enabled(0, &microseconds) <= 0) return std::nullopt;
    return std::chrono::microseconds(microseconds);
}

}  // namespace evictd::sys::service

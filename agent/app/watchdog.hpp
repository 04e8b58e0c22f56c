// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Asks every thread of the agent for a proof of life and passes it on to the service manager, which restarts an agent
// that owes it, and to probes (publish/health_socket). In a lane of its own: where this lane hangs, neither hears
// anything.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "evictd/model/result.hpp"
#include "publish/health_socket.hpp"
#include "sys/lane.hpp"
#include "sys/proof_of_life.hpp"

namespace evictd::app {

struct WatchdogNeeds {
    sys::ProofOfLife& proof = sys::ProofOfLife::of_this_program();
    std::function<void(const std::string& status)> alive;     // the ping
    std::function<void(const std::string& status)> withheld;  // no ping, and why
    Duration period = std::chrono::seconds(10);
    std::string health_path{};         // of the health socket; empty: none
    std::function<bool()> is_ready{};  // the agent has looked; in the watchdog's thread
};

class Watchdog {
public:
    static Result<std::unique_ptr<Watchdog>> make(WatchdogNeeds needs);
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;
    ~Watchdog() = default;

private:
    explicit Watchdog(WatchdogNeeds needs) : needs_(std::move(needs)) {}
    void look();
    void listen();
    [[nodiscard]] std::string health() const;
    void tell_slow(const std::vector<sys::LifeSign>& signs);

    WatchdogNeeds needs_;
    std::string told_;            // of dead threads, once
    std::set<std::string> slow_;  // threads in a task that was reported
    std::string told_of_socket_;  // why there is none
    std::unique_ptr<publish::HealthSocket> health_;
    sys::Timer timer_;
    std::unique_ptr<sys::Lane> lane_;  // last: its thread must be gone first
};

// From the manager's own period: a third, so that one late ping ends nothing; at most 10 s.
[[nodiscard]] Duration watchdog_period(std::optional<Duration> wanted);

}  // namespace evictd::app

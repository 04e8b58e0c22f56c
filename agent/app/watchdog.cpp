// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/watchdog.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "codec/status_request.hpp"
#include "sys/log.hpp"

namespace evictd::app {
namespace {

constexpr Duration longest_watchdog_period = std::chrono::seconds(10);

// No task takes as long on a node that works. Half of it would report every slow disk.
constexpr Duration slow_after = std::chrono::seconds(5);

}  // namespace

Duration watchdog_period(std::optional<Duration> wanted) {
    return wanted ? std::min(longest_watchdog_period, *wanted / 3) : longest_watchdog_period;
}

Result<std::unique_ptr<Watchdog>> Watchdog::make(WatchdogNeeds needs) {
    std::unique_ptr<Watchdog> made(new Watchdog(std::move(needs)));
    auto lane = sys::Lane::make("evictd-watchdog");
    if (!lane) {
        return tl::unexpected(lane.error());
    }
    made->lane_ = std::move(*lane);
    (void)made->lane_->post([watchdog = made.get()] { watchdog->look(); });
    return made;
}

// Once a task: what waits for a disk or a victim for ever would otherwise only show in what it does not do.
void Watchdog::tell_slow(const std::vector<sys::LifeSign>& signs) {
    for (const auto& sign : signs) {
        if (sign.silent < slow_after) {
            slow_.erase(sign.name);
        } else if (slow_.insert(sign.name).second) {
            const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(sign.silent).count();
            sys::log::warn(fmt::format("watchdog: {} is busy with one task for {} s{}", sign.name, seconds,
                                       sign.in_kernel ? ", which waits in the kernel" : ""));
        }
    }
}

std::string Watchdog::health() const {
    codec::Health health{.is_alive = false, .is_ready = false, .detail = sys::dead_ones(needs_.proof.check())};
    health.is_alive = health.detail.empty();
    health.is_ready = health.is_alive && (!needs_.is_ready || needs_.is_ready());
    if (health.is_alive && !health.is_ready) {
        health.detail = "no observation yet";
    }
    return codec::health_json_line(health);
}

// Again with each look, where it failed: a probe that gets no answer has the agent restarted.
void Watchdog::listen() {
    auto made = publish::HealthSocket::make(lane_->loop(), needs_.health_path, [this] { return health(); });
    if (made) {
        health_ = std::move(*made);
    } else if (auto why = made.error().text(); std::exchange(told_of_socket_, why) != why) {
        sys::log::error("probes get no answer: " + why);
    }
}

void Watchdog::look() {
    if (!health_ && !needs_.health_path.empty()) {
        listen();
    }
    const auto signs = needs_.proof.check();
    tell_slow(signs);
    const auto dead = sys::dead_ones(signs);
    if (dead.empty()) {
        needs_.alive(std::to_string(signs.size()) + " threads are alive");
    } else {
        needs_.withheld(dead);
        if (told_.empty()) {
            sys::log::error("watchdog: " + dead + "; the watchdog's pings to the service manager are withheld");
        }
    }
    if (dead.empty() && !told_.empty()) {
        sys::log::warn("watchdog: all threads answer again");
    }
    told_ = dead;
    (void)lane_->arm(timer_, sys::SystemClock().monotonic() + needs_.period, [this] { look(); });
}

}  // namespace evictd::app

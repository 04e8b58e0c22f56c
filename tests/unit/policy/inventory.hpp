// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A runtime's inventory in a few words, and the plan for it as text. Times count back from now. Nothing is asserted
// here.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "garbage.hpp"

namespace evictd::policy::testing {

using namespace std::chrono_literals;

constexpr WallTime inventory_wall{std::chrono::hours(1000)};
constexpr MonotonicTime inventory_now{std::chrono::hours(2)};

// "sha256:" and 64 digits.
inline std::string image_id(unsigned number) {
    std::string digits = std::to_string(number);
    return "sha256:" + std::string(64 - digits.size(), '0') + digits;
}

struct Inventory {
    Runtime runtime{};
    GarbageConfig config{};
    GarbageRequest request{.forced = true, .now = inventory_now, .wall = inventory_wall, .missing = {}};
    std::map<std::string, PodFate> fates{};

    Inventory() {
        runtime.whole = {.images = true, .sandboxes = true, .containers = true, .logs = true};
        runtime.at = inventory_now;
    }
    RuntimeContainer& container(std::string id, const std::string& pod, std::string sandbox, Duration ago,
                                ContainerState state = ContainerState::exited, std::string image = "") {
        RuntimeContainer& one = runtime.containers.emplace_back();
        one.id = std::move(id);
        one.pod = pod;
        one.name = "app";
        one.sandbox = std::move(sandbox);
        one.state = state;
        one.created = inventory_wall - ago;
        one.image_ref = std::move(image);
        return one;
    }
    RuntimeSandbox& sandbox(std::string id, const std::string& pod, Duration ago, bool ready = false) {
        RuntimeSandbox& one = runtime.sandboxes.emplace_back();
        one.id = std::move(id);
        one.pod = pod;
        one.ready = ready;
        one.created = inventory_wall - ago;
        one.name = pod;
        one.namespace_name = "default";
        return one;
    }
    RuntimeImage& image(std::string id, std::optional<Duration> unused = 1h, Bytes size = 100_MiB) {
        RuntimeImage& one = runtime.images.emplace_back();
        one.id = std::move(id);
        one.size = size;
        one.first_detected = inventory_wall - 24h;
        if (unused) one.last_used = inventory_wall - *unused;
        return one;
    }
    [[nodiscard]] GarbagePlan plan() const {
        return plan_garbage(config, request, runtime, [this](const std::string& uid) {
            const auto known = fates.find(uid);
            return PodWord{known == fates.end() ? PodFate::known : known->second, "its pod is known"};
        });
    }
    // "container a, image b"
    [[nodiscard]] std::string goes() const {
        std::string said;
        for (const Garbage& one : plan().removals) {
            said += (said.empty() ? "" : ", ") + std::string(name(one.kind)) + " " + one.id;
        }
        return said;
    }
    // Why it stays; empty: it does not.
    [[nodiscard]] std::string why_kept(const std::string& id) const {
        for (const Garbage& one : plan().kept) {
            if (one.id == id) return one.why;
        }
        return "";
    }
    [[nodiscard]] std::string why_gone(const std::string& id) const {
        for (const Garbage& one : plan().removals) {
            if (one.id == id) return one.why;
        }
        return "";
    }
};

}  // namespace evictd::policy::testing

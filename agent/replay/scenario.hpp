// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A node's story as a file tells it: pods, and steps in time with what the node measures and what is asked there. Made
// from YAML or JSON, whole or not at all. What the policy makes of it is the player's business.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "document/value.hpp"
#include "evictd/model/config.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/pod.hpp"
#include "evictd/model/runtime.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/units.hpp"
#include "policy/owners.hpp"
#include "policy/pod_gc.hpp"
#include "policy/taints.hpp"

namespace evictd::replay {

using document::most_of_anything;
using document::Value;

using PodIndex = std::uint32_t;  // into Scenario::pods

// A figure that is known, or known to be unknown (null).
using Figure = std::optional<std::int64_t>;

enum class UsageKey : std::uint8_t {
    memory,
    pids,
    rootfs,
    logs,
    volumes,
    rootfs_inodes,
    logs_inodes,
    volumes_inodes,
    host_path,
};
inline constexpr std::size_t usage_key_count = 9;

enum class ContainerKey : std::uint8_t { memory, rootfs, logs };
inline constexpr std::size_t container_key_count = 3;

// What a step says of a pod's usage. What it does not name stays as it was.
struct ContainerUsageChange {
    std::string name;
    std::vector<std::pair<ContainerKey, Figure>> figures;
};
struct UsageChange {
    PodIndex pod = 0;
    bool forget = false;  // `namespace/name: null`: nothing is known from now on
    std::vector<std::pair<UsageKey, Figure>> figures;
    std::vector<ContainerUsageChange> containers;
    std::vector<std::pair<std::string, Figure>> empty_dirs;
};

using SignalChange = std::pair<Signal, Figure>;
struct Freed {
    std::vector<std::pair<Signal, std::int64_t>> containers;
    std::vector<std::pair<Signal, std::int64_t>> images;
    std::vector<std::pair<Signal, std::int64_t>> logs;
};

struct ImageGcQuestion {
    Bytes capacity;
    Bytes available;
};
struct GcQuestion {
    std::optional<ImageGcQuestion> images;
    std::optional<ContainerGcPolicy> containers;
    bool logs = false;
    std::optional<policy::PodGcPolicy> pods;
};

struct DeleteRequest {
    policy::ObjectId object;
    policy::DeletePolicy policy = policy::DeletePolicy::background;
};

struct Step {
    std::string at_text;  // as it was written
    Duration at{0};       // since the start
    std::vector<SignalChange> available;
    std::vector<SignalChange> reclaimable;  // the same memory, counted as MemoryAvailable::reclaimable
    std::vector<UsageChange> usage;
    std::vector<PodIndex> unavailable;
    Freed gc_frees;
    std::vector<PodIndex> stuck;
    std::vector<PodIndex> eviction_fails;
    std::vector<PodIndex> admit;
    std::optional<std::vector<Taint>> taints;
    std::vector<PodIndex> scale_down;
    std::vector<PodIndex> qos;
    std::optional<GcQuestion> gc;
    std::optional<std::vector<DeleteRequest>> deletions;
};

// Pods that are listed and at fault, so that what refers to them is no second fault.
struct RefusedPods {
    std::set<std::string, std::less<>> names;
    bool any_unnamed = false;  // any name may be that of one
    [[nodiscard]] bool might_be(std::string_view name) const { return any_unnamed || names.contains(name); }
};

struct Scenario {
    std::string file;
    WallTime start;
    Config config;
    std::array<Figure, signal_count> capacity;
    FsLayout layout = FsLayout::single;
    std::vector<PodPtr> pods;
    RefusedPods refused;           // none in a scenario that was parsed without a fault
    std::vector<bool> only_asked;  // by pod: named in some `admit`, so never on the node
    std::vector<Step> steps;
    Runtime runtime;
    bool has_runtime = false;                  // else its reclaims are known by `gcFrees` alone
    std::vector<policy::OwnedObject> objects;  // each step that asks starts from these
};

// Every fault is reported, with its line, its key, and what would be right. Memory is bounded whatever the text is.
[[nodiscard]] tl::expected<Scenario, document::Faults> parse_scenario(std::string_view text, const std::string& file);

}  // namespace evictd::replay

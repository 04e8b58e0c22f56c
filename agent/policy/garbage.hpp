// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What of the runtime's inventory goes, in which order, and why all else stays. Chooses by the rules of container_gc,
// image_gc and log_gc; removes nothing. What is not known to be unused stays.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "container_gc.hpp"
#include "evictd/model/config.hpp"
#include "evictd/model/garbage.hpp"
#include "evictd/model/pod.hpp"
#include "evictd/model/runtime.hpp"

namespace evictd::policy {

// An older inventory is no ground to remove anything. Every removal is checked once more; half of it, and a runtime
// that needs seconds to list could never be collected; twice as much, and most checks would fail on a busy node.
inline constexpr Duration longest_inventory_age = std::chrono::seconds(10);

// What is known of a pod. `deleted` is proved, by its own status or by an answer that it does not exist: a pod that no
// source knows is `known` until then.
struct PodWord {
    PodFate fate = PodFate::known;
    std::string why;  // what of it stays: "its pod is running"
};
using PodWordOf = std::function<PodWord(const std::string& uid)>;

struct GarbageRequest {
    bool forced = false;     // the node is short of disk: as DeleteAllUnusedContainers and DeleteUnusedImages
    bool containers = true;  // dead ones, with their sandboxes and logs
    bool images = true;
    bool rotated_logs = false;
    MonotonicTime now;
    // An inventory that was begun then or later counts, however old it is by now: a slow runtime's was waited for.
    std::optional<MonotonicTime> inventory_since{};
    WallTime wall;
    Bytes capacity;  // of the images' filesystem, for the water marks of a routine pass; 0: not known
    Bytes available;
    // What is to be freed: images (with `enough`) and rotated logs beyond it stay. None: not known, all may go.
    std::optional<Bytes> missing;
    // Of this node. The images that their containers are about to need stay, unless all unused images are to go.
    std::vector<PodPtr> pods{};
};

struct GarbagePlan {
    std::vector<Garbage> removals;  // nothing comes before what depends on it
    std::vector<Garbage> kept;      // all else of the kinds asked for
    std::string error;              // of the image GC, in the kubelet's words
    bool more = false;              // some stay only because the sizes of what goes are enough
};

[[nodiscard]] GarbagePlan plan_garbage(const GarbageConfig& config, const GarbageRequest& request,
                                       const Runtime& runtime, const PodWordOf& word_of);

}  // namespace evictd::policy

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What of a container runtime and its logs is to go, one by one and by name, and what came of it. Nothing is chosen or
// removed here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "evictd/model/ids.hpp"
#include "evictd/model/names.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

enum class GarbageKind : std::uint8_t {
    container,
    sandbox,
    image,
    log_directory,
    log_link,
    rotated_log,
    volume_directory,
    cgroup,
};
template <>
struct Names<GarbageKind> {
    static constexpr Words<8> words{"container",   "sandbox",          "image", "log directory", "log link",
                                    "rotated log", "volume directory", "cgroup"};
};

struct Garbage {
    GarbageKind kind = GarbageKind::container;
    // The runtime's; of logs the directory's name, or the path; of volumes the pod's uid; of a cgroup its path.
    std::string id;
    std::string name;  // for people: "default/web/app", "docker.io/library/nginx:1.27"
    PodUid pod;        // whose it is; empty: an image
    // As the runtime says. Images are counted as they were pulled, and share layers: less may come back. None: unknown.
    std::optional<Bytes> size;
    std::string why;  // it may go, or it stays
    // An orphan, of the pod "namespace/name" with that uid: it goes only once the API server has said that it has no
    // such pod. Empty: its pod is known.
    std::string orphan_of{};
};

enum class GarbageStatus : std::uint8_t {
    removed,
    dry_run,   // would have been
    vanished,  // it was gone already
    in_use,    // it is used again, or its state is not known: it was not touched
    refused,   // the runtime does not remove it
    failed,    // `error` says why
};
template <>
struct Names<GarbageStatus> {
    static constexpr Words<6> words{"removed", "dry_run", "vanished", "in_use", "refused", "failed"};
};

struct GarbageOutcome {
    GarbageKind kind = GarbageKind::container;
    std::string id;
    GarbageStatus status = GarbageStatus::removed;
    std::string error;
    bool goes_on = false;  // it failed for the time that it takes: some of it went, and more goes with the next pass
};

// Never changed and shared: State and Decision are copied at each look, also while a pod has to be killed.
class GarbageList {
public:
    GarbageList() = default;
    explicit GarbageList(std::vector<Garbage> list)
        : list_(list.empty() ? nullptr : std::make_shared<const std::vector<Garbage>>(std::move(list))) {}

    [[nodiscard]] bool empty() const { return list_ == nullptr; }
    [[nodiscard]] std::size_t size() const { return list_ ? list_->size() : 0; }
    [[nodiscard]] const Garbage* begin() const { return list_ ? list_->data() : nullptr; }
    [[nodiscard]] const Garbage* end() const { return begin() + size(); }

private:
    std::shared_ptr<const std::vector<Garbage>> list_;  // never an empty one
};

// All that is to go now; what is not named is not touched.
struct DesiredGarbage {
    std::uint64_t pass = 0;    // they count up; 0: nothing is to go
    bool forced = false;       // the node is short of disk: at once, and evictions of pods for disk wait for it
    GarbageList removals;      // in this order
    MonotonicTime deadline{};  // nothing is begun after it
    // An inventory that was begun then or later is needed; none: the one there is will do.
    std::optional<MonotonicTime> inventory_since{};
    bool report_only = false;  // all is looked at and said, and nothing is removed
};

// Their sizes, as far as they are known.
[[nodiscard]] Bytes bytes_of(std::span<const Garbage> garbage);
// "2 containers, 1 sandbox and 4 images, 1.2Gi"; empty: none
[[nodiscard]] std::string say_garbage(std::span<const Garbage> garbage);

}  // namespace evictd

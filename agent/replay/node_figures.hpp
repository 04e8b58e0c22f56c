// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the scenario's node measures, as it stands after the steps so far: signals and the pods' usage. Decides nothing.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evictd/model/observation.hpp"
#include "replay/scenario.hpp"

namespace evictd::replay {

// Signals. What a reclaim freed stays on top until the signal is given again.
class NodeSignals {
public:
    explicit NodeSignals(const Scenario& scenario)
        : capacity_(scenario.capacity),
          images_apart_(scenario.layout == FsLayout::dedicated_image_fs || scenario.layout == FsLayout::split) {}

    void apply(const std::vector<SignalChange>& changes, const std::vector<SignalChange>& reclaimable);
    void add_freed(const std::vector<std::pair<Signal, std::int64_t>>& amounts);
    [[nodiscard]] Readings readings() const;

private:
    // Where a signal that was never given reads from.
    [[nodiscard]] Signal source_of(Signal signal) const;
    [[nodiscard]] std::optional<Reading> reading_of(Signal signal) const;

    std::array<Figure, signal_count> capacity_;
    bool images_apart_;
    std::array<Figure, signal_count> available_;
    std::array<Figure, signal_count> reclaimable_;  // of the signals of memory
    std::array<bool, signal_count> given_{};
    std::array<std::int64_t, signal_count> freed_{};
};

// One pod's usage, merged key by key.
class PodFigures {
public:
    void apply(const UsageChange& change);
    // Nothing where none was ever given. A figure of the pod that was not given is the sum of its containers' or
    // volumes'.
    [[nodiscard]] std::optional<PodUsage> usage(const Pod& pod) const;

private:
    struct ContainerFigures {
        std::string name;
        std::array<Figure, container_key_count> figures;
    };
    [[nodiscard]] std::int64_t of(UsageKey key) const;
    [[nodiscard]] std::int64_t of_containers(UsageKey own, ContainerKey key) const;
    [[nodiscard]] std::int64_t volumes(const Pod& pod) const;

    bool known_ = false;
    std::array<Figure, usage_key_count> figures_;
    std::vector<ContainerFigures> containers_;
    std::vector<std::pair<std::string, Figure>> empty_dirs_;
};

}  // namespace evictd::replay

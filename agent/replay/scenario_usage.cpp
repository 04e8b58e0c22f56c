// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a pod uses, as a step changes it. Null makes a figure unknown; what is not named is not touched.
#include <array>
#include <limits>

#include "replay/scenario_step.hpp"

namespace evictd::replay {
namespace {

// By UsageKey.
constexpr std::array<std::string_view, usage_key_count> usage_names{
    "memory", "pids", "rootfs", "logs", "volumes", "rootfsInodes", "logsInodes", "volumesInodes", "hostPath"};
// By ContainerKey.
constexpr std::array<std::string_view, container_key_count> container_names{"memory", "rootfs", "logs"};

template <std::size_t N>
std::optional<std::size_t> position_of(std::string_view name, const std::array<std::string_view, N>& names) {
    for (std::size_t i = 0; i < N; ++i) {
        if (names[i] == name) return i;
    }
    return std::nullopt;
}

ContainerUsageChange read_container(const Value& container) {
    ContainerUsageChange change{std::string(container.key()), {}};
    for (const Value& field : container.fields()) {
        const auto key = position_of(field.key(), container_names);
        if (!key) {
            field.refuse_unknown("key", container_names);
            continue;
        }
        change.figures.emplace_back(static_cast<ContainerKey>(*key), field.amount());
    }
    return change;
}

void refuse_key(const Value& field) {
    std::vector<std::string_view> known(usage_names.begin(), usage_names.end());
    known.insert(known.end(), {"containers", "emptyDirs"});
    field.refuse_unknown("key", known);
}

}  // namespace

UsageChange read_usage(const Value& usage, PodIndex pod) {
    UsageChange change;
    change.pod = pod;
    change.forget = !usage.present();
    for (const Value& field : usage.fields()) {
        if (const auto key = position_of(field.key(), usage_names)) {
            const auto most = static_cast<UsageKey>(*key) == UsageKey::pids
                                  ? std::int64_t{std::numeric_limits<std::int32_t>::max()}
                                  : most_of_anything;
            change.figures.emplace_back(static_cast<UsageKey>(*key), field.amount(most));
        } else if (field.key() == "containers") {
            for (const Value& container : field.fields()) change.containers.push_back(read_container(container));
        } else if (field.key() == "emptyDirs") {
            for (const Value& dir : field.fields()) change.empty_dirs.emplace_back(dir.key(), dir.amount());
        } else {
            refuse_key(field);
        }
    }
    return change;
}

}  // namespace evictd::replay

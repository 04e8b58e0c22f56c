// SPDX-License-Identifier: Apache-2.0
// A pod as the policy needs it: what its v1 Pod object says, defaulted as the API server would. Immutable once made.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/ids.hpp"
#include "evictd/model/quantity.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

enum class QosClass : std::uint8_t { guaranteed, burstable, best_effort };
constexpr std::string_view name(QosClass qos) {
    return qos == QosClass::guaranteed ? "Guaranteed" : qos == QosClass::burstable ? "Burstable" : "BestEffort";
}

// Where the kubelet would have got the pod from (kubetypes.ConfigSourceAnnotationKey and the mirror annotation).
enum class PodOrigin : std::uint8_t { api, static_file, mirror };

struct ResourceList {
    std::optional<Quantity> cpu;
    std::optional<Quantity> memory;
    std::optional<Quantity> ephemeral_storage;
};

struct Container {
    std::string name;
    ResourceList requests;  // a request left out is its limit, as the API server defaults it
    ResourceList limits;
    bool restartable = false;  // an init container with restartPolicy Always: a sidecar
};

enum class PodPhase : std::uint8_t { pending, running, succeeded, failed, unknown };

struct Pod {
    PodUid uid;
    std::string name_space;
    std::string name;
    PodOrigin origin = PodOrigin::api;
    std::optional<std::int32_t> priority;
    std::string priority_class_name;
    std::vector<Container> containers;
    std::vector<Container> init_containers;
    ResourceList requests;  // pod-level resources (spec.resources)
    ResourceList limits;
    ResourceList overhead;
    std::chrono::seconds termination_grace_period{30};
    PodPhase phase = PodPhase::pending;
    std::optional<WallTime> creation_time;
    std::optional<WallTime> start_time;
    std::optional<WallTime> deletion_time;  // metadata.deletionTimestamp
    std::map<std::string, std::string> annotations;
    std::string source;  // file or service it was read from, for people

    [[nodiscard]] std::string full_name() const { return name_space + "/" + name; }
};
using PodPtr = std::shared_ptr<const Pod>;

}  // namespace evictd

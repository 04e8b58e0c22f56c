// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the container runtime and the log directories hold, as one value, and since when each image is known and unused.
// It chooses nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evictd/model/runtime.hpp"
#include "evictd/port/container_runtime.hpp"
#include "evictd/port/pod_logs.hpp"
#include "sys/clock.hpp"

namespace evictd::observe {

struct InventoryLook {
    RuntimePtr runtime;                 // never null; Runtime::whole says which of its lists count
    std::vector<std::string> troubles;  // why a list does not, each in one line
};

// For one thread that may block.
class RuntimeInventory {
public:
    // All must outlive it.
    RuntimeInventory(port::ContainerRuntime& runtime, port::PodLogs& logs, const sys::Clock& clock)
        : runtime_(runtime), logs_(logs), clock_(clock) {}

    // Containers are listed before images: a container that is created meanwhile may use an image that seems unused.
    // Before each removal its uses are checked again (reconcile/garbage_keeper).
    [[nodiscard]] InventoryLook look();

private:
    void list_runtime(Runtime& into, std::vector<std::string>& troubles);
    void list_logs(Runtime& into, std::vector<std::string>& troubles);

    port::ContainerRuntime& runtime_;
    port::PodLogs& logs_;
    const sys::Clock& clock_;
    // The last in which all images are: the kubelet keeps its imageRecords in memory too, so that after a restart no
    // use is known.
    RuntimePtr before_;
};

}  // namespace evictd::observe

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "memory_available.hpp"

namespace evictd::policy {

void compare_with(MemoryAvailable counted, Readings& readings) {
    for (auto& reading : readings) {
        if (!reading || !reading->memory) continue;
        auto& memory = *reading->memory;
        memory.compared = counted;
        reading->available.value =
            counted == MemoryAvailable::reclaimable ? memory.reclaimable.value : memory.kubelet.value;
    }
}

}  // namespace evictd::policy

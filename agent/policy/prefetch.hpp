// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Thousands of pods do not fit into the CPU's caches, so each is loaded some turns before it is read.
#pragma once

#include <cstddef>
#include <vector>

#include "evictd/model/observation.hpp"

namespace evictd::policy {

// What a ranking reads of a pod (see struct Pod). Null: nothing.
inline void prefetch_ranked(const Pod* pod) {
    constexpr std::size_t cache_line = 64;
    if (pod == nullptr) return;
    const auto* const end = reinterpret_cast<const std::byte*>(&pod->computed + 1);
    for (const auto* at = reinterpret_cast<const std::byte*>(&pod->origin); at < end; at += cache_line) {
        __builtin_prefetch(at);
    }
    __builtin_prefetch(end - 1);  // `origin` need not begin a line, and then the last step may stop before the last one
}

// For a loop over all pods that is at the pod `i`.
inline void prefetch_ahead(const std::vector<ObservedPod>& pods, std::size_t i) {
    constexpr std::size_t ahead = 16;
    if (i + ahead < pods.size()) prefetch_ranked(pods[i + ahead].pod.get());
}

}  // namespace evictd::policy

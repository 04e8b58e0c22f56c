// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The ids by which people ask for an eviction or an OOM kill (`evictd explain ID`): short, the same in every event of
// one, made of what all of them know, so that nobody has to hand them out.
#pragma once

#include <string>

#include "evictd/model/ids.hpp"
#include "evictd/model/kernel_event.hpp"
#include "evictd/model/observation.hpp"

namespace evictd::codec {

// Ten hexadecimal digits. `cause` is that of the look that chose the pod: its time is no other look's.
[[nodiscard]] std::string eviction_id(const PodUid& pod, MonotonicTime detected_at);
[[nodiscard]] inline std::string eviction_id(const PodUid& pod, const Cause& cause) {
    return eviction_id(pod, cause.detected_at);
}
[[nodiscard]] std::string oom_id(const OomKill& kill, MonotonicTime time);

}  // namespace evictd::codec

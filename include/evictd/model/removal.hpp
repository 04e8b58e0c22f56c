// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A pod that goes for another reason than pressure: a NoExecute taint, its active deadline, or because it has ended
// long ago. The API server is asked, and the kubelet ends the pod: evictd kills no process for it.
#pragma once

#include <cstdint>
#include <string>

#include "evictd/model/ids.hpp"
#include "evictd/model/names.hpp"
#include "evictd/model/pod_status.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

enum class RemovalKind : std::uint8_t { taint, deadline, garbage };
template <>
struct Names<RemovalKind> {
    static constexpr Words<3> words{"taint", "deadline", "garbage"};
};

// A deletion for a NoExecute taint that was scheduled, or is to be carried out.
struct TaintEviction {
    PodUid pod;
    std::string pod_name;  // "namespace/name"
    MonotonicTime created_at;
    MonotonicTime due;
};

struct Removal {
    RemovalKind kind = RemovalKind::taint;
    DesiredPodStatus desired;  // the newest attempt
    std::string why;           // in one sentence
    MonotonicTime begun_at;
    std::int32_t answered = 0;  // the attempt that was answered last; 0: none
    MonotonicTime again_at;     // after an answer: when another attempt is made if the pod does not go. Epoch: none is
    std::string error;          // of the last answer
};

}  // namespace evictd

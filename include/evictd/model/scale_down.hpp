// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A pod's place in the order in which a ReplicaSet would give up pods when it is scaled down, for people. Not what an
// eviction goes by.
#pragma once

#include <cstdint>
#include <string>

namespace evictd {

// `pod` is an index into Observation::pods.
struct ScaleDownPlace {
    std::uint32_t pod = 0;
    std::string why;  // by which rule it goes before the next one, in a sentence without a full stop
};

}  // namespace evictd

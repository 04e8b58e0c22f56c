// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What others say of this node, as part of an Observation: its taints in the API server, and that it shuts down. Not
// what evictd shows there: that is node_status.hpp's.
#pragma once

#include <cstdint>
#include <vector>

#include "evictd/model/names.hpp"
#include "evictd/model/node_status.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

// The v1.Node, as far as anything depends on it.
struct NodeView {
    std::vector<Taint> taints;   // of all effects
    bool shutting_down = false;  // Ready is False, and the kubelet says that the node shuts down
    MonotonicTime heard_at;      // the server's last word: an event or a bookmark
    bool current = false;        // its watch is not interrupted
    friend bool operator==(const NodeView&, const NodeView&) = default;
};

// logind's answer to whether the machine shuts down.
struct LogindView {
    bool shuts_down = false;  // PreparingForShutdown
    MonotonicTime said_at;    // when it was answered last, or changed
    bool current = false;     // logind is heard: its next change would be
    friend bool operator==(const LogindView&, const LogindView&) = default;
};

// From where it is known that the node shuts down gracefully. While it does, no pod is evicted.
enum class ShutdownWord : std::uint8_t { none, logind, kubelet };
template <>
struct Names<ShutdownWord> {
    static constexpr Words<3> words{"none", "logind", "kubelet"};
};

}  // namespace evictd

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Where pods come from: manifests, or the cluster's servers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/node_view.hpp"
#include "evictd/model/pod.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/signal_source.hpp"

namespace evictd::port {

// All the pods a source knows now.
struct PodSet {
    std::vector<PodPtr> pods;
    std::vector<Error> rejected;  // what it refuses; each Error names file and line. Its pods are not in `pods`
    // What cannot be read or watched for now. The pods that were known of it are still in `pods`, and the source tries
    // again.
    std::vector<Error> unread{};
    // Of a source that has the API server: whether it is up to date with it by the server's last word, and this node's
    // object. None: it has no API server, or has not heard it.
    std::optional<bool> current{};
    std::optional<NodeView> node{};
};

class PodSource {
public:
    // Called on the source's own lane with the full set, once soon after start() and whenever it changed. It must
    // return quickly and may not call back into the source. False: the set was not taken and is delivered again.
    using OnChange = std::function<bool(PodSet)>;

    PodSource() = default;
    PodSource(const PodSource&) = delete;
    PodSource& operator=(const PodSource&) = delete;
    virtual ~PodSource() = default;  // stops: after it, no more calls

    virtual Status start(OnChange on_change) = 0;
    // "manifests in /etc/evictd/pods", for doctor and status.
    [[nodiscard]] virtual std::string describe() const = 0;
    // Of each server behind it. Thread-safe.
    [[nodiscard]] virtual std::vector<PodSourceState> states() const { return {}; }
};

}  // namespace evictd::port

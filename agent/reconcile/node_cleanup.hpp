// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Removes evictd's conditions and taints from nodes whose agent never comes back, as after evictd was uninstalled.
// Waits for the server, so not for the agent itself, which has NodeStatusKeeper.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/node_object.hpp"
#include "evictd/port/api_server.hpp"

namespace evictd::reconcile {

struct NodeCleanupOptions {
    std::string node;                              // empty: every node of the cluster
    bool dry_run = false;                          // only says what it would remove
    Duration patience = std::chrono::seconds(15);  // with one answer; the client's rate limit is in it
    std::function<void(Duration)> pause{};         // between two tries of a request; none: sleeps
};

struct CleanedNode {
    std::string node;
    // "taint evictd.io/memory-pressure:NoSchedule", "condition evictd.io/MemoryPressure". In a dry run: that would be.
    std::vector<std::string> removed;
    std::vector<Error> failed;  // what is left of it, and why
};

class NodeCleanup {
public:
    // False: stop, as where stdout is closed.
    using OnNode = std::function<bool(const CleanedNode&)>;

    // `api` outlives it.
    NodeCleanup(port::ApiServer& api, NodeCleanupOptions options) : api_(api), options_(std::move(options)) {}

    // Reports each node once, in the server's order. What is removed already is not missed, so it may be killed and
    // repeated. An error: the node or the list cannot be read, or the server does not answer any more; the nodes
    // before that were reported.
    Status run(const OnNode& on_node);

private:
    // One answer with another status than 429 and 5xx, after some tries. An error: there is none.
    Result<port::ApiReply> ask(const port::ApiRequest& request);
    Result<port::ApiReply> ask_once(const port::ApiRequest& request);
    Result<codec::NodeObject> read(const std::string& name);
    Result<std::vector<codec::NodeObject>> list();
    Result<std::vector<codec::NodeObject>> list_once();
    Result<codec::NodePage> list_page(const std::string& token);
    Result<CleanedNode> clean(codec::NodeObject node);
    enum class Tried : std::uint8_t { done, conflict };
    Result<Tried> try_once(const codec::NodeObject& node, CleanedNode& cleaned);

    port::ApiServer& api_;
    NodeCleanupOptions options_;
    // Of a node as the kubelet keeps it (50 images): 10 to 25 KiB. An answer has 1 MiB at most.
    int nodes_a_page_ = 20;
};

}  // namespace evictd::reconcile

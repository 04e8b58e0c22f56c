// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The real agent as a child process with a configuration of its own: its events are read from its stdout.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <sys/types.h>

#include "codec/event.hpp"
#include "evictd/model/result.hpp"
#include "pod_tree.hpp"
#include "sys/fd.hpp"

namespace evictd::bench {

// Of a BPF map; 0 without one.
[[nodiscard]] std::size_t value_size(const sys::Fd& map);

class AgentProcess {
public:
    // `program` with the threshold over the tree's pods; `directory` takes its files. Returns when it has started.
    static Result<std::unique_ptr<AgentProcess>> start(const std::string& program, const PodTree& tree,
                                                       const std::string& directory, Bytes threshold);
    AgentProcess(const AgentProcess&) = delete;
    AgentProcess& operator=(const AgentProcess&) = delete;
    ~AgentProcess();

    // The next event; none within `timeout`.
    std::optional<codec::Event> next_event(Duration timeout);
    // Until its map "pods" shows the pod with this cgroup: the first look that had it is over.
    Status wait_for_pod(std::uint64_t cgroup, Duration timeout = std::chrono::seconds(5));
    // Its whole answer to `evictd status`.
    Result<std::string> status();

    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] const std::string& bpffs() const { return bpffs_; }

private:
    AgentProcess() = default;

    pid_t pid_ = -1;
    sys::Fd events_;
    std::string unread_;
    std::string socket_;
    std::string bpffs_;
};

}  // namespace evictd::bench

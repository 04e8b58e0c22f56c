// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The node's disks and its container runtime: what is free, what pods keep, what is garbage. All of it is found in
// threads that may wait for a disk or for the runtime; the agent takes what is newest, and none of its own waits.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/filesystem.hpp"
#include "evictd/model/garbage.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/runtime.hpp"
#include "evictd/model/runtime_names.hpp"
#include "evictd/model/signal_source.hpp"
#include "evictd/port/api_server.hpp"
#include "evictd/port/cgroup_remains.hpp"
#include "observe/pod_disks.hpp"
#include "sys/clock.hpp"

namespace evictd::app {

// Called in any thread; none may wait. False: the queue is full; it is called again later.
struct DiskNews {
    std::function<void()> changed;  // filesystems() or figures()
    std::function<bool(RuntimePtr)> inventory;
    std::function<bool(ReclaimOutcome)> reclaimed;
    // The container runtime is missing (`trouble`: why), or was missing and answers.
    std::function<bool(std::string message, std::string trouble)> runtime;
};

class Disks {
public:
    // `clock` must outlive the program's threads. Error: there are no threads to be had. A runtime that is not there or
    // not to be trusted is no error: it is in row().
    // `api`: null, there is no API server, and orphans stay. `cgroups`: null, theirs stay.
    static Result<std::unique_ptr<Disks>> make(const Config& config, const sys::Clock& clock, DiskNews news,
                                               std::shared_ptr<port::ApiServer> api = nullptr,
                                               std::unique_ptr<port::CgroupRemains> cgroups = nullptr);
    Disks(const Disks&) = delete;
    Disks& operator=(const Disks&) = delete;
    // A removal that is under way is waited for, but not longer than the runtime's next answer.
    ~Disks();

    // All are thread-safe, and none waits for a disk.
    [[nodiscard]] FilesystemsView filesystems() const;
    [[nodiscard]] observe::DiskFigures figures() const;
    void set_filesystem_pace(Duration pace);  // how often filesystems are asked, 10 ms to 10 s
    // As LayerReader::set_pace().
    [[nodiscard]] bool set_layers_pace(Duration pace);
    void refresh(const std::vector<PodUid>& pods);  // their figures are measured anew, before all others
    void want_garbage(const DesiredGarbage& desired);
    [[nodiscard]] bool has_runtime() const;       // its socket was found; it may not answer
    [[nodiscard]] RuntimeNamesPtr names() const;  // of pods and containers, as the runtime listed them last
    void want_names();                            // soon: there may be new ones
    [[nodiscard]] SourceRow row() const;          // for status

private:
    struct Parts;
    explicit Disks(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace evictd::app

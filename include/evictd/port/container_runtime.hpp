// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The node's container runtime, through CRI: what it holds, and what it stops and removes when it is asked to. It
// decides nothing: a runtime removes an image that is in use, and a container that runs.
// Its events (GetContainerEvents) are not used: containerd 1.7 gives each to one listener only, so the kubelet would
// miss some; containerd 2 and CRI-O wait for a listener that does not read, and the kubelet's events wait too
// (disks.md).
#pragma once

#include <string>
#include <vector>

#include "evictd/model/result.hpp"
#include "evictd/model/runtime.hpp"
#include "evictd/model/units.hpp"

namespace evictd::port {

// Every call blocks until the runtime has answered, or for its time limit: for a thread that may block, one at a time.
// Errors: `vanished` (the runtime knows no such container, sandbox or image), `unreachable` (no answer in time, or the
// runtime is not up: what was asked may have been done), `not_permitted`, `invalid` (a message is larger than 16 MiB, a
// list than 32 MiB or 50,000 entries, or it is no answer of CRI: nothing of it counts), `failed` (the runtime says why,
// or has no such call). An entry without an ID makes the whole answer invalid, and so does a list that is cut off: that
// something is absent is only known from a whole list.
// A list that the runtime cannot stream takes a second call the first time, which has a time limit of its own.
class ContainerRuntime {
public:
    ContainerRuntime() = default;
    ContainerRuntime(const ContainerRuntime&) = delete;
    ContainerRuntime& operator=(const ContainerRuntime&) = delete;
    virtual ~ContainerRuntime() = default;

    [[nodiscard]] virtual Result<RuntimeVersion> version() = 0;
    [[nodiscard]] virtual Result<std::vector<RuntimeCondition>> conditions() = 0;
    // What sandboxes are made of, "registry.k8s.io/pause:3.9". Empty: the runtime does not say, and no sandbox is ready
    // that would. No container uses it. containerd before 1.7 does not pin it, and containerd 2 only if it is
    // configured by its full name.
    [[nodiscard]] virtual Result<std::string> sandbox_image() = 0;

    // All of them, dead ones too. A state that is not known here is taken for one that is alive.
    [[nodiscard]] virtual Result<std::vector<RuntimeSandbox>> sandboxes() = 0;
    // Without their layers.
    [[nodiscard]] virtual Result<std::vector<RuntimeContainer>> containers() = 0;
    // Containers of whose writable layer the runtime has a reading, with `id`, `name` and `layer` alone. One that is
    // not among them may have any: a shim that hangs costs its pod's rows. That takes some seconds, and 20 s at most.
    [[nodiscard]] virtual Result<std::vector<RuntimeContainer>> layers() = 0;
    // The same of one container: empty or with one element. Error `unreachable`: also of a shim that hangs.
    [[nodiscard]] virtual Result<std::vector<RuntimeContainer>> layer(const std::string& id) = 0;
    // Without first_detected, last_used and in_use, which no runtime knows.
    [[nodiscard]] virtual Result<std::vector<RuntimeImage>> images() = 0;
    [[nodiscard]] virtual Result<RuntimeFilesystems> filesystems() = 0;

    [[nodiscard]] virtual Result<RuntimeSandboxDetails> sandbox(const std::string& id) = 0;
    [[nodiscard]] virtual Result<RuntimeContainerDetails> container(const std::string& id) = 0;
    // Fills in RuntimeContainer::image_volumes. The runtime is asked once about each container, because its mounts do
    // not change. Error: at least one was not answered for, and of those it is not known; the next time only they are
    // asked about.
    [[nodiscard]] virtual Status add_image_volumes(std::vector<RuntimeContainer>& containers) = 0;

    // With all its containers. Some runtimes answer `vanished` where there is none, others nothing.
    [[nodiscard]] virtual Status stop_sandbox(const std::string& id) = 0;
    // With all its containers, running or not. Of one that is not there: no error.
    [[nodiscard]] virtual Status remove_sandbox(const std::string& id) = 0;
    // SIGTERM, after `grace` SIGKILL; 0: at once. Returns when it is dead. Of one that is not there as stop_sandbox().
    [[nodiscard]] virtual Status stop_container(const std::string& id, Duration grace) = 0;
    // Kills it if it runs. Of one that is not there: no error.
    [[nodiscard]] virtual Status remove_container(const std::string& id) = 0;
    // By its ID: all its tags go with it, and it goes though a container uses it. Of one that is not there: no error.
    // Its bytes come back later.
    [[nodiscard]] virtual Status remove_image(const std::string& id) = 0;

    // Thread-safe: the call under way and all later ones end with `unreachable`. For an agent that ends.
    virtual void cancel() = 0;
};

}  // namespace evictd::port

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The container runtime on its socket: CRI v1 as port::ContainerRuntime.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cri/connection.hpp"
#include "evictd/port/container_runtime.hpp"

namespace evictd::cri {

// Others are for tests.
struct RuntimeLimits {
    // Lists are read from the runtime's memory: 500 containers take some milliseconds. What takes longer than this is a
    // runtime that hangs, or a node where it matters little.
    Duration read = std::chrono::seconds(10);
    // What the runtime asks a container's shim for. One shim that hangs must not take longer.
    Duration read_one = std::chrono::seconds(2);
    // The same of a pod, where the list of all hangs and the pods are asked one by one, for as long as `read`.
    Duration read_pod = std::chrono::milliseconds(500);
    // The kubelet's runtimeRequestTimeout. With stop, beside the time that the container has to end.
    Duration change = std::chrono::minutes(2);
};

class Runtime final : public port::ContainerRuntime {
public:
    // As Connection::make(). Nothing is loaded before the first call.
    static Result<std::unique_ptr<Runtime>> make(EndpointPtr endpoint, RuntimeLimits limits = {});
    static Result<std::unique_ptr<Runtime>> make(std::string socket, RuntimeLimits limits = {});

    Result<RuntimeVersion> version() override;
    Result<std::vector<RuntimeCondition>> conditions() override;
    Result<std::string> sandbox_image() override;
    Result<std::vector<RuntimeSandbox>> sandboxes() override;
    Result<std::vector<RuntimeContainer>> containers() override;
    Result<std::vector<RuntimeContainer>> layers() override;
    Result<std::vector<RuntimeContainer>> layer(const std::string& id) override;
    Result<std::vector<RuntimeImage>> images() override;
    Result<RuntimeFilesystems> filesystems() override;
    Result<RuntimeSandboxDetails> sandbox(const std::string& id) override;
    Result<RuntimeContainerDetails> container(const std::string& id) override;
    Status add_image_volumes(std::vector<RuntimeContainer>& containers) override;
    Status stop_sandbox(const std::string& id) override;
    Status remove_sandbox(const std::string& id) override;
    Status stop_container(const std::string& id, Duration grace) override;
    Status remove_container(const std::string& id) override;
    Status remove_image(const std::string& id) override;
    void cancel() override { connection_->cancel(); }

private:
    Runtime(std::unique_ptr<Connection> connection, RuntimeLimits limits)
        : connection_(std::move(connection)), limits_(limits) {}
    Result<std::vector<RuntimeContainer>> layers_of_pods();
    Result<std::string> image_of_newest_sandbox();
    Status ask_image_volumes(const std::vector<RuntimeContainer>& containers);
    struct ListCalls;
    // The whole list, without a filter. `limit` holds for each of up to two calls.
    template <class Element>
    Result<std::vector<Element>> list(const ListCalls& calls, Duration limit,
                                      Result<std::vector<Element>> (*reader)(std::string_view));
    template <class Value>
    Result<Value> read(std::string_view service, std::string_view method, const std::string& request, Duration limit,
                       Result<Value> (*reader)(std::string_view));
    template <class Value>
    Result<Value> read_one(std::string_view method, const std::string& id, const std::string& request,
                           Result<Value> (*reader)(std::string_view));
    Status change(std::string_view service, std::string_view method, const std::string& id, const std::string& request,
                  Duration limit);

    std::unique_ptr<Connection> connection_;
    RuntimeLimits limits_;
    std::unordered_map<std::string, std::vector<std::string>> image_volumes_;  // by container, of the last list
    bool is_slow_ = false;  // not all were answered the last time: one call at a time
};

}  // namespace evictd::cri

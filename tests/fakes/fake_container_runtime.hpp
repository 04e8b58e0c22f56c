// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A container runtime in memory: it answers from its lists, removes what it is asked to, and fails where it is told to.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "evictd/port/container_runtime.hpp"
#include "evictd/port/pod_logs.hpp"

namespace evictd::fakes {

class FakeContainerRuntime final : public port::ContainerRuntime {
public:
    std::vector<RuntimeSandbox> all_sandboxes;
    std::vector<RuntimeContainer> all_containers;
    std::vector<RuntimeImage> all_images;
    RuntimeFilesystems all_filesystems;
    std::string sandbox_image_name = "pause:1";
    std::map<std::string, std::vector<std::string>> image_volumes;  // by container
    std::map<std::string, Error> fails;                             // by the call's name
    std::vector<std::string> changes;                               // "remove_container c1"
    std::function<void(const std::string& call)> before = {};       // each call

    Result<RuntimeVersion> version() override { return RuntimeVersion{"fake", "1", "v1"}; }
    Result<std::vector<RuntimeCondition>> conditions() override { return std::vector<RuntimeCondition>{}; }
    Result<std::string> sandbox_image() override { return answer("sandbox_image", sandbox_image_name); }
    Result<std::vector<RuntimeSandbox>> sandboxes() override { return answer("sandboxes", all_sandboxes); }
    Result<std::vector<RuntimeContainer>> containers() override { return answer("containers", all_containers); }
    Result<std::vector<RuntimeContainer>> layers() override { return answer("layers", all_containers); }
    Result<std::vector<RuntimeContainer>> layer(const std::string& /*id*/) override {
        return std::vector<RuntimeContainer>{};
    }
    Result<std::vector<RuntimeImage>> images() override { return answer("images", all_images); }
    Result<RuntimeFilesystems> filesystems() override { return answer("filesystems", all_filesystems); }
    Result<RuntimeSandboxDetails> sandbox(const std::string& id) override {
        if (auto refused = refuse("sandbox")) return tl::unexpected(*refused);
        const auto found = find(all_sandboxes, id);
        if (found == all_sandboxes.end()) return not_found(id);
        RuntimeSandboxDetails details;
        details.sandbox = *found;
        return details;
    }
    Result<RuntimeContainerDetails> container(const std::string& id) override {
        if (auto refused = refuse("container")) return tl::unexpected(*refused);
        const auto found = find(all_containers, id);
        if (found == all_containers.end()) return not_found(id);
        RuntimeContainerDetails details;
        details.container = *found;
        return details;
    }
    Status add_image_volumes(std::vector<RuntimeContainer>& containers) override {
        if (const auto* refused = refuse("add_image_volumes")) return tl::unexpected(*refused);
        for (auto& one : containers) {
            const auto found = image_volumes.find(one.id);
            if (found != image_volumes.end()) one.image_volumes = found->second;
        }
        return {};
    }
    Status stop_sandbox(const std::string& id) override { return change("stop_sandbox", id); }
    Status remove_sandbox(const std::string& id) override {
        auto done = change("remove_sandbox", id);
        if (done) {
            std::erase_if(all_sandboxes, [&](const auto& one) { return one.id == id; });
            std::erase_if(all_containers, [&](const auto& one) { return one.sandbox == id; });
        }
        return done;
    }
    Status stop_container(const std::string& id, Duration /*grace*/) override { return change("stop_container", id); }
    Status remove_container(const std::string& id) override {
        auto done = change("remove_container", id);
        if (done) std::erase_if(all_containers, [&](const auto& one) { return one.id == id; });
        return done;
    }
    Status remove_image(const std::string& id) override {
        auto done = change("remove_image", id);
        if (done) std::erase_if(all_images, [&](const auto& one) { return one.id == id; });
        return done;
    }
    void cancel() override {}

private:
    [[nodiscard]] const Error* refuse(const std::string& call) {
        if (before) before(call);
        const auto found = fails.find(call);
        return found == fails.end() ? nullptr : &found->second;
    }
    template <class Value>
    Result<Value> answer(const std::string& call, const Value& value) {
        if (const auto* refused = refuse(call)) return tl::unexpected(*refused);
        return value;
    }
    Status change(const std::string& call, const std::string& id) {
        if (const auto* refused = refuse(call)) return tl::unexpected(*refused);
        changes.push_back(call + " " + id);
        return {};
    }
    template <class Value>
    static typename std::vector<Value>::const_iterator find(const std::vector<Value>& list, const std::string& id) {
        return std::find_if(list.begin(), list.end(), [&](const Value& one) { return one.id == id; });
    }
    static tl::unexpected<Error> not_found(const std::string& id) {
        return fail(ErrorKind::vanished, id, "is not there");
    }
};

class FakePodLogs final : public port::PodLogs {
public:
    port::PodLogList all;
    std::vector<std::string> removed;
    std::optional<Error> fails;

    port::PodLogList list() override { return all; }
    Status remove(GarbageKind /*kind*/, const std::string& id) override {
        if (fails) return tl::unexpected(*fails);
        removed.push_back(id);
        return {};
    }
};

}  // namespace evictd::fakes

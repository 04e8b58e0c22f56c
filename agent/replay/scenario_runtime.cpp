// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/scenario_runtime.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "config/fault.hpp"

namespace evictd::replay {
namespace {

// Twenty years to either side of the start: more than anything on a node lives.
constexpr Duration longest_ago = std::chrono::hours(24 * 365 * 20);

std::string read_id(const Value& map, std::string_view key) {
    const Value id = map.at(key);
    const auto text = id.text();
    if (!text || text->empty()) id.refuse("is missing", "give it as text");
    return std::string(text.value_or(""));
}

std::optional<WallTime> read_time(const Value& field, WallTime start) {
    const auto since = field.duration();
    if (!since) return std::nullopt;
    if (*since > longest_ago || *since < -longest_ago) {
        field.refuse("is more than 20 years from the start", "is the unit right?");
        return std::nullopt;
    }
    return start + *since;
}

bool is_taken(const Value& map, const std::string& id, std::unordered_set<std::string>& taken) {
    if (taken.insert(id).second) return false;
    map.at("id").refuse("is listed twice: \"" + excerpt(id) + "\"", "give each its own id");
    return true;
}

RuntimeImage read_image(const Value& map, WallTime start) {
    map.allow({"id", "size", "firstDetected", "lastUsed", "pinned", "inUse"});
    return {.id = read_id(map, "id"),
            .size = Bytes{map.at("size").amount().value_or(0)},
            .first_detected = read_time(map.at("firstDetected"), start).value_or(start),
            .last_used = read_time(map.at("lastUsed"), start),
            .pinned = map.at("pinned").boolean().value_or(false),
            .in_use = map.at("inUse").boolean().value_or(false)};
}

RuntimeSandbox read_sandbox(const Value& map, WallTime start) {
    map.allow({"id", "pod", "state", "created"});
    const Value state = map.at("state");
    const auto text = state.text().value_or("notready");
    if (text != "ready" && text != "notready") {
        state.refuse("is no state of a sandbox: \"" + excerpt(text) + "\"", "use ready or notready");
    }
    return {.id = read_id(map, "id"),
            .pod = read_id(map, "pod"),
            .ready = text == "ready",
            .created = read_time(map.at("created"), start).value_or(start)};
}

ContainerState read_state(const Value& state) {
    constexpr std::array<std::string_view, 4> names{"created", "running", "exited", "unknown"};  // by ContainerState
    const auto text = state.text();
    if (!text) return ContainerState::exited;
    const auto* const found = std::find(names.begin(), names.end(), *text);
    if (found == names.end()) {
        state.refuse("is no state of a container: \"" + excerpt(*text) + "\"",
                     "use created, running, exited or unknown");
        return ContainerState::unknown;
    }
    return static_cast<ContainerState>(found - names.begin());
}

RuntimeContainer read_container(const Value& map, WallTime start) {
    map.allow({"id", "pod", "name", "sandbox", "state", "created"});
    return {.id = read_id(map, "id"),
            .pod = read_id(map, "pod"),
            .name = std::string(map.at("name").text().value_or("")),
            .sandbox = std::string(map.at("sandbox").text().value_or("")),
            .state = read_state(map.at("state")),
            .created = read_time(map.at("created"), start).value_or(start)};
}

LogLink read_log_link(const Value& map) {
    map.allow({"path", "dangling", "container"});
    LogLink link{
        .path = read_id(map, "path"), .dangling = map.at("dangling").boolean().value_or(false), .container = {}};
    if (const Value state = map.at("container"); state.present()) link.container = read_state(state);
    return link;
}

}  // namespace

Runtime read_runtime(const Value& map, WallTime start) {
    Runtime runtime;
    map.allow({"sandboxImage", "images", "sandboxes", "containers", "logDirectories", "logLinks"});
    runtime.sandbox_image = map.at("sandboxImage").text().value_or("");
    const auto read_list = [&](std::string_view key, const auto& read, auto& list) {
        const Value value = map.at(key);
        std::unordered_set<std::string> taken;
        value.each_element([&](const Value& element) {
            auto item = read(element, start);
            if (!is_taken(element, item.id, taken)) list.push_back(std::move(item));
        });
    };
    read_list("images", read_image, runtime.images);
    read_list("sandboxes", read_sandbox, runtime.sandboxes);
    read_list("containers", read_container, runtime.containers);
    map.at("logDirectories").each_element([&](const Value& element) {
        runtime.log_directories.push_back({std::string(element.text().value_or(""))});
    });
    map.at("logLinks").each_element([&](const Value& element) { runtime.log_links.push_back(read_log_link(element)); });
    return runtime;
}

}  // namespace evictd::replay

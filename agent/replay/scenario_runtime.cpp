// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/scenario_runtime.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "evictd/model/text.hpp"

namespace evictd::replay {
namespace {

// Twenty years to either side of the start: more than anything on a node lives.
constexpr Duration longest_ago = std::chrono::hours(24 * 365 * 20);

std::string read_id(const Value& map, std::string_view key) {
    const Value id = map[key];
    const auto text = id.text();
    if (!text || text->empty()) id.refuse("is missing", "give it as text");
    return text.value_or("");
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
    map["id"].refuse("is listed twice: \"" + excerpt(id) + "\"", "give each its own id");
    return true;
}

RuntimeImage read_image(const Value& map, WallTime start) {
    map.allow({"id", "size", "firstDetected", "lastUsed", "pinned", "inUse", "tags"});
    std::vector<std::string> tags;
    for (const Value& tag : map["tags"].elements()) tags.push_back(tag.text().value_or(""));
    return {.id = read_id(map, "id"),
            .size = Bytes{map["size"].amount().value_or(0)},
            .first_detected = read_time(map["firstDetected"], start).value_or(start),
            .last_used = read_time(map["lastUsed"], start),
            .pinned = map["pinned"].boolean().value_or(false),
            .in_use = map["inUse"].boolean().value_or(false),
            .tags = std::move(tags)};
}

RuntimeSandbox read_sandbox(const Value& map, WallTime start) {
    map.allow({"id", "pod", "state", "created"});
    constexpr std::array<std::pair<std::string_view, bool>, 2> states{{{"ready", true}, {"notready", false}}};
    return {.id = read_id(map, "id"),
            .pod = read_id(map, "pod"),
            .ready = map["state"].one_of(states).value_or(false),
            .created = read_time(map["created"], start).value_or(start)};
}

ContainerState read_state(const Value& state) {
    constexpr std::array<std::pair<std::string_view, ContainerState>, 4> words{{{"created", ContainerState::created},
                                                                                {"running", ContainerState::running},
                                                                                {"exited", ContainerState::exited},
                                                                                {"unknown", ContainerState::unknown}}};
    return state.one_of(words).value_or(ContainerState::exited);
}

RuntimeContainer read_container(const Value& map, WallTime start) {
    map.allow({"id", "pod", "name", "sandbox", "state", "created", "image", "size"});
    RuntimeContainer container{.id = read_id(map, "id"),
                               .pod = read_id(map, "pod"),
                               .name = map["name"].text().value_or(""),
                               .sandbox = map["sandbox"].text().value_or(""),
                               .state = read_state(map["state"]),
                               .created = read_time(map["created"], start).value_or(start)};
    container.image_id = map["image"].text().value_or("");
    if (const auto size = map["size"].amount()) container.layer = RuntimeUsage{.used = Bytes{*size}};
    return container;
}

LogLink read_log_link(const Value& map) {
    map.allow({"path", "dangling", "container"});
    LogLink link{.path = read_id(map, "path"), .dangling = map["dangling"].boolean().value_or(false), .container = {}};
    if (const Value state = map["container"]; state.present()) link.container = read_state(state);
    return link;
}

RotatedLog read_rotated_log(const Value& map) {
    map.allow({"path", "container", "pod", "size"});
    return {.path = read_id(map, "path"),
            .container = map["container"].text().value_or(""),
            .pod = map["pod"].text().value_or(""),
            .size = Bytes{map["size"].amount().value_or(0)}};
}

}  // namespace

Runtime read_runtime(const Value& map, WallTime start) {
    Runtime runtime;
    map.allow({"sandboxImage", "images", "sandboxes", "containers", "logDirectories", "logLinks", "rotatedLogs"});
    runtime.sandbox_image = map["sandboxImage"].text().value_or("");
    const auto read_list = [&](std::string_view key, const auto& read, auto& list) {
        std::unordered_set<std::string> taken;
        for (const Value& element : map[key].elements()) {
            auto item = read(element, start);
            if (!is_taken(element, item.id, taken)) list.push_back(std::move(item));
        }
    };
    read_list("images", read_image, runtime.images);
    read_list("sandboxes", read_sandbox, runtime.sandboxes);
    read_list("containers", read_container, runtime.containers);
    for (const Value& element : map["logDirectories"].elements()) {
        runtime.log_directories.push_back({element.text().value_or("")});
    }
    for (const Value& element : map["logLinks"].elements()) runtime.log_links.push_back(read_log_link(element));
    for (const Value& element : map["rotatedLogs"].elements()) {
        runtime.rotated_logs.push_back(read_rotated_log(element));
    }
    runtime.whole = {.images = true, .sandboxes = true, .containers = true, .logs = true};
    return runtime;
}

}  // namespace evictd::replay

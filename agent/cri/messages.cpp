// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Lists.
#include "cri/messages.hpp"

#include <string>
#include <utility>

#include "cri/message_parts.hpp"

namespace evictd::cri {
namespace {

// Tags of an image, or digests, that are kept: each takes memory, however short it is.
constexpr std::size_t most_names = 1000;

Status read_condition(std::string_view bytes, RuntimeCondition& into) {
    return for_each_field(bytes, [&](const Field& field) -> Status {
        switch (field.number) {
            case 1:
                return take_text(field, into.type);
            case 2:
                return take_flag(field, into.status);
            case 3:
                return take_text(field, into.reason);
            case 4:
                return take_text(field, into.message);
            default:
                return {};
        }
    });
}

Status read_runtime_status(std::string_view bytes, std::vector<RuntimeCondition>& into) {
    return for_each_field(bytes, [&](const Field& field) -> Status {
        return field.number == 1 ? take_element(field, into, read_condition) : Status{};
    });
}

Status read_list_sandbox(std::string_view bytes, RuntimeSandbox& into) {
    into.ready = true;  // the enumeration's zero
    auto read = for_each_field(bytes, [&](const Field& field) -> Status {
        switch (field.number) {
            case 1:
                return take_text(field, into.id);
            case 2:
                return take_message(field, into, read_sandbox_metadata);
            case 3:
                return take_sandbox_state(field, into.ready);
            case 4:
                return take_time(field, into.created);
            case 5:
                return take_known_entry(field, into.labels);
            case 6:
                return take_known_entry(field, into.annotations);
            case 7:
                return take_text(field, into.handler);
            default:
                return {};
        }
    });
    return read ? check_id(into.id, "a sandbox") : read;
}

Status read_list_container(std::string_view bytes, RuntimeContainer& into) {
    into.state = ContainerState::created;  // the enumeration's zero
    auto read = for_each_field(bytes, [&](const Field& field) -> Status {
        switch (field.number) {
            case 1:
                return take_text(field, into.id);
            case 2:
                return take_text(field, into.sandbox);
            case 3:
                return take_message(field, into, read_container_metadata);
            case 4:
                return take_message(field, into.image, read_image_spec);
            case 5:
                return take_text(field, into.image_ref);
            case 6:
                return take_container_state(field, into.state);
            case 7:
                return take_time(field, into.created);
            case 8:
                return take_known_entry(field, into.labels);
            case 9:
                return take_known_entry(field, into.annotations);
            case 10:
                return take_text(field, into.image_id);
            default:
                return {};
        }
    });
    if (!read) return read;
    note_pod(into);
    if (auto valid = check_id(into.sandbox, "a container's sandbox"); !valid) return valid;
    return check_id(into.id, "a container");
}

// An image with more names is not collected: one that is not known may be what a container or a pattern names it by. It
// must not make the list invalid, because anybody may push such an image, and then none would be collected.
Status take_name(const Field& field, std::vector<std::string>& into, bool& has_more) {
    if (into.size() < most_names) return take_text(field, into.emplace_back());
    has_more = true;
    return {};
}

Status read_image(std::string_view bytes, RuntimeImage& into) {
    bool has_more = false;
    auto read = for_each_field(bytes, [&](const Field& field) -> Status {
        switch (field.number) {
            case 1:
                return take_text(field, into.id);
            case 2:
                return take_name(field, into.tags, has_more);
            case 3:
                return take_name(field, into.digests, has_more);
            case 4:
                return take_size(field, into.size.value);
            case 7:
                return take_message(field, into.spec, read_image_spec);
            case 8:
                return take_flag(field, into.pinned);
            default:
                return {};
        }
    });
    into.pinned = into.pinned || has_more;
    return read ? check_id(into.id, "an image") : read;
}

Status read_filesystem(std::string_view bytes, RuntimeFilesystem& into) {
    ReadUsage usage;
    auto read = read_usage(bytes, usage);
    into.directory = std::move(usage.directory);
    into.usage = {.used = {usage.used.value_or(0)}, .inodes = usage.inodes, .at = usage.at};
    return read;
}

Status read_layer(std::string_view bytes, RuntimeContainer& into) {
    ReadUsage usage;
    auto read = for_each_field(bytes, [&](const Field& field) -> Status {
        if (field.number == 1) return take_message(field, into, read_attributes);
        return field.number == 4 ? take_message(field, usage, read_usage) : Status{};
    });
    if (!read) return read;
    // Before the first reading there is a message, of zeros.
    if (usage.used && usage.at > WallTime{}) {
        into.layer = RuntimeUsage{.used = {*usage.used}, .inodes = usage.inodes, .at = usage.at};
    }
    return check_id(into.id, "a container");
}

// A message whose field 1 is the list.
template <class Element>
Result<std::vector<Element>> read_list(std::string_view message, Status (*read)(std::string_view, Element&)) {
    std::vector<Element> all;
    auto done = for_each_field(message, [&](const Field& field) -> Status {
        if (field.number != 1) return {};
        auto counted = check_count(all.size() + 1);
        return counted ? take_element(field, all, read) : counted;
    });
    if (!done) return tl::unexpected(done.error());
    return all;
}

}  // namespace

Status check_count(std::size_t elements) {
    if (elements <= most_elements) return {};
    return fail(ErrorKind::invalid, "answer", "the list has more than " + std::to_string(most_elements) + " entries");
}

Result<RuntimeVersion> read_version(std::string_view message) {
    RuntimeVersion version;
    auto read = for_each_field(message, [&](const Field& field) -> Status {
        switch (field.number) {
            case 2:
                return take_text(field, version.name);
            case 3:
                return take_text(field, version.version);
            case 4:
                return take_text(field, version.api);
            default:
                return {};
        }
    });
    if (!read) return tl::unexpected(read.error());
    if (version.name.empty()) return fail(ErrorKind::invalid, "answer", "the runtime has no name");
    return version;
}

Result<std::vector<RuntimeCondition>> read_conditions(std::string_view message) {
    std::vector<RuntimeCondition> conditions;
    auto read = for_each_field(message, [&](const Field& field) -> Status {
        return field.number == 1 ? take_message(field, conditions, read_runtime_status) : Status{};
    });
    if (!read) return tl::unexpected(read.error());
    return conditions;
}

Result<std::vector<RuntimeSandbox>> read_sandboxes(std::string_view message) {
    return read_list(message, read_list_sandbox);
}

Result<std::vector<RuntimeContainer>> read_containers(std::string_view message) {
    return read_list(message, read_list_container);
}

Result<std::vector<RuntimeImage>> read_images(std::string_view message) { return read_list(message, read_image); }

Result<std::vector<RuntimeContainer>> read_layers(std::string_view message) {
    auto all = read_list(message, read_layer);
    if (all) std::erase_if(*all, [](const RuntimeContainer& container) { return !container.layer; });
    return all;
}

Result<RuntimeFilesystems> read_filesystems(std::string_view message) {
    RuntimeFilesystems all;
    auto read = for_each_field(message, [&](const Field& field) -> Status {
        if (field.number == 1) return take_element(field, all.images, read_filesystem);
        return field.number == 2 ? take_element(field, all.containers, read_filesystem) : Status{};
    });
    if (!read) return tl::unexpected(read.error());
    return all;
}

}  // namespace evictd::cri

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "cri/message_parts.hpp"

namespace evictd::cri {
namespace {

// "" where it has none.
Status read_key(std::string_view bytes, std::string_view& into) {
    return for_each_field(bytes, [&](const Field& field) -> Status {
        if (field.number == 1) into = field.bytes;
        return {};
    });
}

Status read_filesystem_id(std::string_view bytes, std::string& into) {
    return for_each_field(
        bytes, [&](const Field& field) -> Status { return field.number == 1 ? take_text(field, into) : Status{}; });
}

}  // namespace

Status read_usage(std::string_view bytes, ReadUsage& into) {
    return for_each_field(bytes, [&](const Field& field) -> Status {
        switch (field.number) {
            case 1:
                return take_time(field, into.at);
            case 2:
                return take_message(field, into.directory, read_filesystem_id);
            case 3:
                return take_size_value(field, into.used);
            case 4:
                return take_size_value(field, into.inodes);
            default:
                return {};
        }
    });
}

Status read_image_spec(std::string_view bytes, std::string& into) {
    return for_each_field(
        bytes, [&](const Field& field) -> Status { return field.number == 1 ? take_text(field, into) : Status{}; });
}

Status read_sandbox_metadata(std::string_view bytes, RuntimeSandbox& into) {
    return for_each_field(bytes, [&](const Field& field) -> Status {
        switch (field.number) {
            case 1:
                return take_text(field, into.name);
            case 2:
                return take_text(field, into.pod);
            case 3:
                return take_text(field, into.namespace_name);
            case 4:
                return take_count(field, into.attempt);
            default:
                return {};
        }
    });
}

Status read_container_metadata(std::string_view bytes, RuntimeContainer& into) {
    return for_each_field(bytes, [&](const Field& field) -> Status {
        if (field.number == 1) return take_text(field, into.name);
        return field.number == 2 ? take_count(field, into.attempt) : Status{};
    });
}

Status read_attributes(std::string_view bytes, RuntimeContainer& into) {
    auto read = for_each_field(bytes, [&](const Field& field) -> Status {
        switch (field.number) {
            case 1:
                return take_text(field, into.id);
            case 2:
                return take_message(field, into, read_container_metadata);
            case 3:
                return take_known_entry(field, into.labels);
            default:
                return {};
        }
    });
    note_pod(into);
    return read;
}

Status take_known_entry(const Field& field, RuntimeLabels& into) {
    std::string_view key;
    if (auto read = take_message<std::string_view>(field, key, read_key); !read) return read;
    return key == pod_uid_label || key == config_source_annotation ? take_entry(field, into) : Status{};
}

Status take_sandbox_state(const Field& field, bool& is_ready) {
    std::int64_t state = 0;
    auto taken = take_number(field, state);
    is_ready = state != 1;
    return taken;
}

Status take_container_state(const Field& field, ContainerState& into) {
    std::int64_t state = 0;
    auto taken = take_number(field, state);
    switch (state) {
        case 0:
            into = ContainerState::created;
            break;
        case 2:
            into = ContainerState::exited;
            break;
        case 3:
            into = ContainerState::unknown;
            break;
        default:
            into = ContainerState::running;
    }
    return taken;
}

void note_pod(RuntimeContainer& container) {
    const auto label = container.labels.find(pod_uid_label);
    if (label != container.labels.end()) container.pod = label->second;
}

}  // namespace evictd::cri

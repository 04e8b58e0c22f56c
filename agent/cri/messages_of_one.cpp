// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The state of one sandbox and of one container.
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "cri/cgroup_path.hpp"
#include "cri/message_parts.hpp"
#include "cri/messages.hpp"
#include "document/node.hpp"
#include "document/value.hpp"

namespace evictd::cri {
namespace {

constexpr std::int64_t node_mode = 2;  // NamespaceMode
// Of containerd and CRI-O: the whole OCI specification, with every mount and variable.
constexpr document::Limits info_limits{"the runtime's JSON", std::size_t{1} << 20U, 50'000, false};

Status read_namespace_options(std::string_view bytes, RuntimeSandboxDetails& into) {
    const std::array<bool*, 3> flags{&into.host_network, &into.host_pid, &into.host_ipc};
    return for_each_field(bytes, [&](const Field& field) -> Status {
        if (field.number < 1 || field.number > flags.size()) return {};
        std::int64_t mode = 0;
        auto taken = take_number(field, mode);
        *flags.at(field.number - 1) = mode == node_mode;
        return taken;
    });
}

Status read_namespace(std::string_view bytes, RuntimeSandboxDetails& into) {
    return for_each_field(bytes, [&](const Field& field) -> Status {
        return field.number == 2 ? take_message(field, into, read_namespace_options) : Status{};
    });
}

Status read_linux(std::string_view bytes, RuntimeSandboxDetails& into) {
    return for_each_field(bytes, [&](const Field& field) -> Status {
        return field.number == 1 ? take_message(field, into, read_namespace) : Status{};
    });
}

Status read_network(std::string_view bytes, std::string& into) {
    return for_each_field(
        bytes, [&](const Field& field) -> Status { return field.number == 1 ? take_text(field, into) : Status{}; });
}

Status read_sandbox_status(std::string_view bytes, RuntimeSandboxDetails& into) {
    auto& sandbox = into.sandbox;
    sandbox.ready = true;  // the enumeration's zero
    auto read = for_each_field(bytes, [&](const Field& field) -> Status {
        switch (field.number) {
            case 1:
                return take_text(field, sandbox.id);
            case 2:
                return take_message(field, sandbox, read_sandbox_metadata);
            case 3:
                return take_sandbox_state(field, sandbox.ready);
            case 4:
                return take_time(field, sandbox.created);
            case 5:
                return take_message(field, into.address, read_network);
            case 6:
                return take_message(field, into, read_linux);
            case 7:
                return take_known_entry(field, sandbox.labels);
            case 8:
                return take_known_entry(field, sandbox.annotations);
            case 9:
                return take_text(field, sandbox.handler);
            default:
                return {};
        }
    });
    return read ? check_id(sandbox.id, "a sandbox") : read;
}

// 0: not yet.
Status take_moment(const Field& field, std::optional<WallTime>& into) {
    WallTime time{};
    auto taken = take_time(field, time);
    if (time > WallTime{}) into = time;
    return taken;
}

Status take_exit_code(const Field& field, int& into) {
    std::int64_t code = 0;
    auto taken = take_number(field, code);
    into = static_cast<int>(code);
    return taken;
}

Status take_identity(const Field& field, RuntimeContainer& into) {
    switch (field.number) {
        case 1:
            return take_text(field, into.id);
        case 2:
            return take_message(field, into, read_container_metadata);
        case 3:
            return take_container_state(field, into.state);
        case 4:
            return take_time(field, into.created);
        case 8:
            return take_message(field, into.image, read_image_spec);
        case 9:
            return take_text(field, into.image_ref);
        case 12:
            return take_known_entry(field, into.labels);
        case 13:
            return take_known_entry(field, into.annotations);
        case 17:
            return take_text(field, into.image_id);
        default:
            return {};
    }
}

Status read_container_status(std::string_view bytes, RuntimeContainerDetails& into) {
    into.container.state = ContainerState::created;  // the enumeration's zero
    auto read = for_each_field(bytes, [&](const Field& field) -> Status {
        switch (field.number) {
            case 5:
                return take_moment(field, into.started);
            case 6:
                return take_moment(field, into.finished);
            case 7:
                return take_exit_code(field, into.exit_code);
            case 10:
                return take_text(field, into.reason);
            case 15:
                return take_text(field, into.log_path);
            default:
                return take_identity(field, into.container);
        }
    });
    note_pod(into.container);
    return read ? check_id(into.container.id, "a container") : read;
}

// An entry of `info`, which is JSON that each runtime writes as it likes: without what is looked for in it, it is not
// known. `note` gets its root, where that is a map. False: it is there and cannot be read.
template <class Note>
bool read_info(const RuntimeLabels& info, const std::string& key, Note note) {
    const auto found = info.find(key);
    if (found == info.end()) return true;
    auto documents = document::parse(found->second, key, document::Syntax::json, info_limits);
    if (documents.size() != 1 || !documents.front().faults.empty()) return false;
    document::Reading reading(std::move(documents.front()), key);
    const auto root = reading.root();
    if (root.is_map()) note(root);
    return root.is_map();
}

void note_info(const document::Value& root, RuntimeContainerDetails& into) {
    into.pid = static_cast<std::int32_t>(root["pid"].integer(0, std::numeric_limits<std::int32_t>::max()).value_or(0));
    if (!root["runtimeSpec"].is_map()) return;
    into.container.sandbox = root["sandboxID"].text().value_or("");
    into.cgroup = cgroup_of(root["runtimeSpec"]["linux"]["cgroupsPath"].text().value_or(""));
}

template <class Into>
Result<Into> whole(Status read, Into into) {
    if (!read) return tl::unexpected(read.error());
    return into;
}

// A text in an entry of a status's `info`; empty where there is no such entry or no such text in it.
Result<std::string> read_text_of_info(std::string_view message, const std::string& key, const char* name) {
    RuntimeLabels info;
    std::string found;
    auto read = for_each_field(
        message, [&](const Field& field) -> Status { return field.number == 2 ? take_entry(field, info) : Status{}; });
    bool is_text = true;
    const auto note = [&](const document::Value& root) {
        const auto value = root[name];
        const auto text = value.text();
        is_text = !value.present() || text.has_value();
        found = text.value_or("");
    };
    if (read && (!read_info(info, key, note) || !is_text)) {
        read = fail(ErrorKind::invalid, "its " + key, "cannot be read, so the image of sandboxes is not known");
    }
    return whole(std::move(read), std::move(found));
}

Status read_mount(std::string_view bytes, std::string& image) {
    return for_each_field(bytes, [&](const Field& field) -> Status {
        return field.number == 9 ? take_message(field, image, read_image_spec) : Status{};
    });
}

// Of a ContainerStatus.
Status read_mounts(std::string_view bytes, std::vector<std::string>& images) {
    return for_each_field(bytes, [&](const Field& field) -> Status {
        if (field.number != 14) return {};
        std::string image;
        auto read = take_message(field, image, read_mount);
        if (read && !image.empty()) images.push_back(std::move(image));
        return read;
    });
}

}  // namespace

Result<RuntimeSandboxDetails> read_sandbox(std::string_view message) {
    RuntimeSandboxDetails details;
    auto read = for_each_field(message, [&](const Field& field) -> Status {
        return field.number == 1 ? take_message(field, details, read_sandbox_status) : Status{};
    });
    if (read) read = check_id(details.sandbox.id, "the sandbox");
    return whole(std::move(read), std::move(details));
}

Result<RuntimeContainerDetails> read_container(std::string_view message) {
    RuntimeContainerDetails details;
    RuntimeLabels info;
    auto read = for_each_field(message, [&](const Field& field) -> Status {
        if (field.number == 1) return take_message(field, details, read_container_status);
        return field.number == 2 ? take_entry(field, info) : Status{};
    });
    if (read) read = check_id(details.container.id, "the container");
    if (read) (void)read_info(info, "info", [&](const document::Value& root) { note_info(root, details); });
    return whole(std::move(read), std::move(details));
}

// "config" is containerd's, up to 1.7.
Result<std::string> read_sandbox_image(std::string_view message) {
    return read_text_of_info(message, "config", "sandboxImage");
}

// "info" is containerd's and CRI-O's.
Result<std::string> read_image_of_sandbox(std::string_view message) {
    return read_text_of_info(message, "info", "image");
}

Result<std::vector<std::string>> read_image_volumes(std::string_view message) {
    std::vector<std::string> images;
    auto read = for_each_field(message, [&](const Field& field) -> Status {
        return field.number == 1 ? take_message(field, images, read_mounts) : Status{};
    });
    return whole(std::move(read), std::move(images));
}

}  // namespace evictd::cri

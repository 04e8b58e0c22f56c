// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/garbage_uses.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "evictd/model/image_names.hpp"
#include "evictd/model/image_uses.hpp"

namespace evictd::reconcile {
namespace {

GarbageStays stays(const Garbage& one, GarbageStatus status, std::string why = {}) {
    return {.outcome = {one.kind, one.id, status, std::move(why)}};
}

GarbageStays in_use(const Garbage& one, std::string why) { return stays(one, GarbageStatus::in_use, std::move(why)); }

// A container that was created is started in a moment, or never: nobody can tell which.
constexpr std::array<const char*, 4> why_it_lives{"it was created and may be started", "it is running", nullptr,
                                                  "the runtime does not know its state"};

// By an ID, listed or not: a list may be of another moment than the container.
const RuntimeContainer* find_user(const std::vector<RuntimeContainer>& containers, const std::string& image) {
    const auto is_it = [&](const std::string& name) {
        return !name.empty() && digits_of_image(name) == digits_of_image(image);
    };
    const auto user = std::find_if(containers.begin(), containers.end(), [&](const RuntimeContainer& one) {
        return is_it(one.image_id) || is_it(one.image_ref) || is_it(one.image) ||
               std::any_of(one.image_volumes.begin(), one.image_volumes.end(), is_it);
    });
    return user == containers.end() ? nullptr : &*user;
}

std::string uses_it(const RuntimeContainer& container) { return "container " + container.name + " uses it"; }

// Of an image that is listed.
std::optional<GarbageStays> why_used(const Garbage& one, const Runtime& now, const RuntimeImage& image) {
    if (image.pinned) return in_use(one, "it is pinned");
    const auto users = find_image_users(now, {});
    const auto* user = users.of[static_cast<std::size_t>(&image - now.images.data())].staying;
    if (user != nullptr) return in_use(one, uses_it(*user));
    // It may be this one, whose tag has moved to another.
    if (users.unresolved != nullptr) {
        return in_use(one, "container " + users.unresolved->name + " uses an image that is not listed");
    }
    return std::nullopt;
}

}  // namespace

GarbageStays unknown_use(const Garbage& one, const Error& error) {
    if (error.kind == ErrorKind::vanished) return stays(one, GarbageStatus::vanished);
    auto unknown = stays(one, GarbageStatus::failed, error.text());
    unknown.is_unanswered = error.kind == ErrorKind::unreachable;
    return unknown;
}

std::optional<GarbageStays> GarbageUses::why_it_stays(const Garbage& one, const std::string& sandbox_image) {
    switch (one.kind) {
        case GarbageKind::container:
            return container(one);
        case GarbageKind::sandbox:
            return sandbox(one);
        case GarbageKind::image:
            return image(one, sandbox_image);
        case GarbageKind::log_directory:
        case GarbageKind::volume_directory:
        case GarbageKind::cgroup:
            return directory(one);
        case GarbageKind::log_link:
        case GarbageKind::rotated_log:
            return std::nullopt;  // their names, types and targets are checked as they are removed
    }
    return stays(one, GarbageStatus::refused, "of an unknown kind");
}

std::optional<GarbageStays> GarbageUses::container(const Garbage& one) {
    const auto found = runtime_.container(one.id);
    if (!found) return unknown_use(one, found.error());
    const char* why = why_it_lives.at(static_cast<std::size_t>(found->container.state));
    return why == nullptr ? std::nullopt : std::optional(in_use(one, why));
}

// With a sandbox the runtime removes its containers, running or not.
std::optional<GarbageStays> GarbageUses::sandbox(const Garbage& one) {
    const auto found = runtime_.sandbox(one.id);
    if (!found) return unknown_use(one, found.error());
    if (found->sandbox.ready) return in_use(one, "it is ready");
    const auto containers = runtime_.containers();
    if (!containers) return unknown_use(one, containers.error());
    for (const auto& container : *containers) {
        if (container.sandbox == one.id) return in_use(one, "container " + container.name + " is in it");
    }
    return std::nullopt;
}

// The containers after the images: the newest word on what uses them.
std::optional<GarbageStays> GarbageUses::image(const Garbage& one, const std::string& sandbox_image) {
    auto images = runtime_.images();
    if (!images) return unknown_use(one, images.error());
    const auto of_sandboxes = runtime_.sandbox_image();
    if (!of_sandboxes) return unknown_use(one, of_sandboxes.error());
    auto containers = runtime_.containers();
    if (!containers) return unknown_use(one, containers.error());
    if (const auto known = runtime_.add_image_volumes(*containers); !known) return unknown_use(one, known.error());
    if (const auto* user = find_user(*containers, one.id)) return in_use(one, uses_it(*user));
    Runtime now;
    now.images = std::move(*images);
    now.containers = std::move(*containers);
    const auto image = std::find_if(now.images.begin(), now.images.end(),
                                    [&](const RuntimeImage& listed) { return listed.id == one.id; });
    if (image == now.images.end()) return stays(one, GarbageStatus::vanished);
    if (may_be_named(*image, *of_sandboxes) || may_be_named(*image, sandbox_image)) {
        return in_use(one, "it is the image of sandboxes");
    }
    return why_used(one, now, *image);
}

// A pod of that UID may have come back, a static one for example.
std::optional<GarbageStays> GarbageUses::directory(const Garbage& one) {
    const auto sandboxes = runtime_.sandboxes();
    const auto containers = sandboxes ? runtime_.containers() : tl::unexpected(sandboxes.error());
    if (!containers) return unknown_use(one, containers.error());
    const auto is_its = [&](const auto& other) { return other.pod == one.pod.value; };
    const bool any = std::any_of(sandboxes->begin(), sandboxes->end(), is_its) ||
                     std::any_of(containers->begin(), containers->end(), is_its);
    return any ? std::optional(in_use(one, "its pod has a sandbox or container")) : std::nullopt;
}

}  // namespace evictd::reconcile

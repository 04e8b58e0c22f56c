// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a tape holds of a pod's manifest: a part of tape_fields.hpp, which says how.
#pragma once

#include <tuple>

#include "evictd/model/pod.hpp"
#include "tape_field.hpp"

namespace evictd::codec {

template <>
struct Described<ResourceList> {
    static constexpr auto fields = std::tuple(field("cpu", &ResourceList::cpu), field("memory", &ResourceList::memory),
                                              field("ephemeral_storage", &ResourceList::ephemeral_storage),
                                              field("hugepages", &ResourceList::hugepages));
};
template <>
struct Described<Container> {
    static constexpr auto fields = std::tuple(
        field("name", &Container::name), field("requests", &Container::requests), field("limits", &Container::limits),
        field("restartable", &Container::restartable), field("id", &Container::id), field("image", &Container::image));
};
template <>
struct Described<Volume> {
    static constexpr auto fields =
        std::tuple(field("name", &Volume::name), field("kind", &Volume::kind), field("in_memory", &Volume::in_memory),
                   field("size_limit", &Volume::size_limit), field("image", &Volume::image));
};
template <>
struct Described<Toleration> {
    static constexpr auto fields =
        std::tuple(field("key", &Toleration::key), field("op", &Toleration::op), field("value", &Toleration::value),
                   field("effect", &Toleration::effect), field("seconds", &Toleration::seconds));
};
template <>
struct Described<OwnerReference> {
    static constexpr auto fields =
        std::tuple(field("kind", &OwnerReference::kind), field("name", &OwnerReference::name),
                   field("uid", &OwnerReference::uid), field("controller", &OwnerReference::controller),
                   field("block_owner_deletion", &OwnerReference::block_owner_deletion));
};
template <>
struct Described<Pod> {
    static constexpr auto fields = std::tuple(
        field("uid", &Pod::uid), field("namespace", &Pod::name_space), field("name", &Pod::name),
        field("origin", &Pod::origin), field("qos", &Pod::qos), field("has_resources", &Pod::has_resources),
        field("priority", &Pod::priority), field("computed", &Pod::computed),
        field("priority_class_name", &Pod::priority_class_name), field("containers", &Pod::containers),
        field("init_containers", &Pod::init_containers), field("requests", &Pod::requests),
        field("limits", &Pod::limits), field("overhead", &Pod::overhead), field("volumes", &Pod::volumes),
        field("tolerations", &Pod::tolerations), field("owners", &Pod::owners), field("node_name", &Pod::node_name),
        field("termination_grace_period", &Pod::termination_grace_period),
        field("deletion_grace_period", &Pod::deletion_grace_period), field("active_deadline", &Pod::active_deadline),
        field("phase", &Pod::phase), field("status_reason", &Pod::status_reason), field("ready", &Pod::ready),
        field("ready_time", &Pod::ready_time), field("restarts", &Pod::restarts),
        field("sidecar_restarts", &Pod::sidecar_restarts), field("deletion_cost", &Pod::deletion_cost),
        field("creation_time", &Pod::creation_time), field("start_time", &Pod::start_time),
        field("deletion_time", &Pod::deletion_time), field("annotations", &Pod::annotations),
        field("source", &Pod::source), field("generation", &Pod::generation));
};

}  // namespace evictd::codec

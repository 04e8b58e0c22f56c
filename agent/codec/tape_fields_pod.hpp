// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a tape holds of a pod's manifest: a part of tape_fields.hpp, which says how.
#pragma once

#include "evictd/model/pod.hpp"
#include "tape_field.hpp"

namespace evictd::codec {

template <>
struct Described<ResourceList> {
    static constexpr auto fields = described(field<&ResourceList::cpu>("cpu"), field<&ResourceList::memory>("memory"),
                                             field<&ResourceList::ephemeral_storage>("ephemeral_storage"),
                                             field<&ResourceList::hugepages>("hugepages"));
};
template <>
struct Described<Container> {
    static constexpr auto fields = described(
        field<&Container::name>("name"), field<&Container::requests>("requests"), field<&Container::limits>("limits"),
        field<&Container::restartable>("restartable"), field<&Container::id>("id"), field<&Container::image>("image"));
};
template <>
struct Described<Volume> {
    static constexpr auto fields =
        described(field<&Volume::name>("name"), field<&Volume::kind>("kind"), field<&Volume::in_memory>("in_memory"),
                  field<&Volume::size_limit>("size_limit"), field<&Volume::image>("image"));
};
template <>
struct Described<Toleration> {
    static constexpr auto fields =
        described(field<&Toleration::key>("key"), field<&Toleration::op>("op"), field<&Toleration::value>("value"),
                  field<&Toleration::effect>("effect"), field<&Toleration::seconds>("seconds"));
};
template <>
struct Described<OwnerReference> {
    static constexpr auto fields =
        described(field<&OwnerReference::kind>("kind"), field<&OwnerReference::name>("name"),
                  field<&OwnerReference::uid>("uid"), field<&OwnerReference::controller>("controller"),
                  field<&OwnerReference::block_owner_deletion>("block_owner_deletion"));
};
template <>
struct Described<Pod> {
    static constexpr auto fields = described(
        field<&Pod::uid>("uid"), field<&Pod::name_space>("namespace"), field<&Pod::name>("name"),
        field<&Pod::origin>("origin"), field<&Pod::phase>("phase"), field<&Pod::qos>("qos"),
        field<&Pod::has_resources>("has_resources"), field<&Pod::ready>("ready"), field<&Pod::priority>("priority"),
        field<&Pod::restarts>("restarts"), field<&Pod::sidecar_restarts>("sidecar_restarts"),
        field<&Pod::deletion_cost>("deletion_cost"), field<&Pod::ready_time>("ready_time"),
        field<&Pod::creation_time>("creation_time"), field<&Pod::deletion_time>("deletion_time"),
        field<&Pod::node_name>("node_name"), field<&Pod::owners>("owners"), field<&Pod::computed>("computed"),
        field<&Pod::priority_class_name>("priority_class_name"), field<&Pod::containers>("containers"),
        field<&Pod::init_containers>("init_containers"), field<&Pod::requests>("requests"),
        field<&Pod::limits>("limits"), field<&Pod::overhead>("overhead"), field<&Pod::volumes>("volumes"),
        field<&Pod::tolerations>("tolerations"), field<&Pod::termination_grace_period>("termination_grace_period"),
        field<&Pod::deletion_grace_period>("deletion_grace_period"), field<&Pod::active_deadline>("active_deadline"),
        field<&Pod::status_reason>("status_reason"), field<&Pod::start_time>("start_time"),
        field<&Pod::annotations>("annotations"), field<&Pod::source>("source"), field<&Pod::generation>("generation"));
};

}  // namespace evictd::codec

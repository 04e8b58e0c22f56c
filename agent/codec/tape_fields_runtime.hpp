// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a tape holds of a runtime's inventory, of what is to go of it, and of what evictions for disk wait for. The rest
// is in tape_fields.hpp.
#pragma once

#include "evictd/model/config.hpp"
#include "evictd/model/garbage.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/runtime.hpp"
#include "evictd/model/state.hpp"
#include "tape_field.hpp"

namespace evictd::codec {

template <>
struct Described<ImageGcPolicy> {
    static constexpr auto fields =
        described(field<&ImageGcPolicy::high_threshold_percent>("high_threshold_percent"),
                  field<&ImageGcPolicy::low_threshold_percent>("low_threshold_percent"),
                  field<&ImageGcPolicy::min_age>("min_age"), field<&ImageGcPolicy::max_age>("max_age"));
};
template <>
struct Described<GarbageConfig> {
    static constexpr auto fields = described(
        field<&GarbageConfig::image_gc>("image_gc"), field<&GarbageConfig::images>("images"),
        field<&GarbageConfig::keep_images>("keep_images"), field<&GarbageConfig::logs>("logs"),
        field<&GarbageConfig::routine>("routine"), field<&GarbageConfig::deadline>("deadline"),
        field<&GarbageConfig::orphans>("orphans"), field<&GarbageConfig::orphan_quarantine>("orphan_quarantine"));
};

template <>
struct Described<RuntimeUsage> {
    static constexpr auto fields = described(field<&RuntimeUsage::used>("used"), field<&RuntimeUsage::inodes>("inodes"),
                                             field<&RuntimeUsage::at>("at"));
};
template <>
struct Described<RuntimeImage> {
    static constexpr auto fields =
        described(field<&RuntimeImage::id>("id"), field<&RuntimeImage::size>("size"),
                  field<&RuntimeImage::first_detected>("first_detected"), field<&RuntimeImage::last_used>("last_used"),
                  field<&RuntimeImage::pinned>("pinned"), field<&RuntimeImage::in_use>("in_use"),
                  field<&RuntimeImage::tags>("tags"), field<&RuntimeImage::digests>("digests"),
                  field<&RuntimeImage::spec>("spec"));
};
template <>
struct Described<RuntimeSandbox> {
    static constexpr auto fields =
        described(field<&RuntimeSandbox::id>("id"), field<&RuntimeSandbox::pod>("pod"),
                  field<&RuntimeSandbox::ready>("ready"), field<&RuntimeSandbox::created>("created"),
                  field<&RuntimeSandbox::name>("name"), field<&RuntimeSandbox::namespace_name>("namespace_name"),
                  field<&RuntimeSandbox::attempt>("attempt"), field<&RuntimeSandbox::handler>("handler"),
                  field<&RuntimeSandbox::labels>("labels"), field<&RuntimeSandbox::annotations>("annotations"));
};
template <>
struct Described<RuntimeContainer> {
    static constexpr auto fields =
        described(field<&RuntimeContainer::id>("id"), field<&RuntimeContainer::pod>("pod"),
                  field<&RuntimeContainer::name>("name"), field<&RuntimeContainer::sandbox>("sandbox"),
                  field<&RuntimeContainer::state>("state"), field<&RuntimeContainer::created>("created"),
                  field<&RuntimeContainer::attempt>("attempt"), field<&RuntimeContainer::image>("image"),
                  field<&RuntimeContainer::image_ref>("image_ref"), field<&RuntimeContainer::image_id>("image_id"),
                  field<&RuntimeContainer::labels>("labels"), field<&RuntimeContainer::annotations>("annotations"),
                  field<&RuntimeContainer::layer>("layer"), field<&RuntimeContainer::image_volumes>("image_volumes"));
};
template <>
struct Described<LogDirectory> {
    static constexpr auto fields = described(field<&LogDirectory::name>("name"), field<&LogDirectory::size>("size"));
};
template <>
struct Described<LogLink> {
    static constexpr auto fields = described(field<&LogLink::path>("path"), field<&LogLink::dangling>("dangling"),
                                             field<&LogLink::container>("container"));
};
template <>
struct Described<RotatedLog> {
    static constexpr auto fields =
        described(field<&RotatedLog::path>("path"), field<&RotatedLog::container>("container"),
                  field<&RotatedLog::pod>("pod"), field<&RotatedLog::size>("size"));
};
template <>
struct Described<RuntimeLists> {
    static constexpr auto fields =
        described(field<&RuntimeLists::images>("images"), field<&RuntimeLists::sandboxes>("sandboxes"),
                  field<&RuntimeLists::containers>("containers"), field<&RuntimeLists::logs>("logs"));
};
template <>
struct Described<Runtime> {
    static constexpr auto fields =
        described(field<&Runtime::sandbox_image>("sandbox_image"), field<&Runtime::images>("images"),
                  field<&Runtime::sandboxes>("sandboxes"), field<&Runtime::containers>("containers"),
                  field<&Runtime::log_directories>("log_directories"), field<&Runtime::log_links>("log_links"),
                  field<&Runtime::rotated_logs>("rotated_logs"), field<&Runtime::whole>("whole"),
                  field<&Runtime::at>("at"), field<&Runtime::since>("since"));
};

template <>
struct Described<Garbage> {
    static constexpr auto fields =
        described(field<&Garbage::kind>("kind"), field<&Garbage::id>("id"), field<&Garbage::name>("name"),
                  field<&Garbage::pod>("pod"), field<&Garbage::size>("size"), field<&Garbage::why>("why"),
                  field<&Garbage::orphan_of>("orphan_of"));
};
template <>
struct Described<GarbageOutcome> {
    static constexpr auto fields =
        described(field<&GarbageOutcome::kind>("kind"), field<&GarbageOutcome::id>("id"),
                  field<&GarbageOutcome::status>("status"), field<&GarbageOutcome::error>("error"),
                  field<&GarbageOutcome::goes_on>("goes_on"));
};
template <>
struct Described<DesiredGarbage> {
    static constexpr auto fields = described(
        field<&DesiredGarbage::pass>("pass"), field<&DesiredGarbage::forced>("forced"),
        field<&DesiredGarbage::removals>("removals"), field<&DesiredGarbage::deadline>("deadline"),
        field<&DesiredGarbage::inventory_since>("inventory_since"), field<&DesiredGarbage::report_only>("report_only"));
};
template <>
struct Described<ReclaimOutcome> {
    static constexpr auto fields =
        described(field<&ReclaimOutcome::errors>("errors"), field<&ReclaimOutcome::pass>("pass"),
                  field<&ReclaimOutcome::removals>("removals"), field<&ReclaimOutcome::freed>("freed"),
                  field<&ReclaimOutcome::forced>("forced"), field<&ReclaimOutcome::orphans>("orphans"));
};
template <>
struct Described<UnknownOwner> {
    static constexpr auto fields =
        described(field<&UnknownOwner::pod>("pod"), field<&UnknownOwner::since>("since"),
                  field<&UnknownOwner::reported>("reported"), field<&UnknownOwner::failures>("failures"),
                  field<&UnknownOwner::again_at>("again_at"));
};
template <>
struct Described<Collecting> {
    static constexpr auto fields = described(
        field<&Collecting::passes>("passes"), field<&Collecting::routine>("routine"),
        field<&Collecting::containers_at>("containers_at"), field<&Collecting::images_at>("images_at"),
        field<&Collecting::futile_inventory>("futile_inventory"), field<&Collecting::orphans_at>("orphans_at"),
        field<&Collecting::unknown>("unknown"), field<&Collecting::unknown_of>("unknown_of"),
        field<&Collecting::futile_for>("futile_for"), field<&Collecting::futile_removals>("futile_removals"),
        field<&Collecting::announced_pass>("announced_pass"));
};
template <>
struct Described<DiskWait> {
    static constexpr auto fields =
        described(field<&DiskWait::since>("since"), field<&DiskWait::is_known>("is_known"),
                  field<&DiskWait::calm_since>("calm_since"), field<&DiskWait::told>("told"));
};
template <>
struct Described<Freeing> {
    static constexpr auto fields =
        described(field<&Freeing::pod>("pod"), field<&Freeing::pod_name>("pod_name"), field<&Freeing::cgroup>("cgroup"),
                  field<&Freeing::emptied_at>("emptied_at"), field<&Freeing::removed_at>("removed_at"));
};

}  // namespace evictd::codec

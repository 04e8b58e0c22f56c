// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a tape holds of a runtime's inventory, of what is to go of it, and of what evictions for disk wait for. The rest
// is in tape_fields.hpp.
#pragma once

#include <tuple>

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
        std::tuple(field("high_threshold_percent", &ImageGcPolicy::high_threshold_percent),
                   field("low_threshold_percent", &ImageGcPolicy::low_threshold_percent),
                   field("min_age", &ImageGcPolicy::min_age), field("max_age", &ImageGcPolicy::max_age));
};
template <>
struct Described<GarbageConfig> {
    static constexpr auto fields = std::tuple(
        field("image_gc", &GarbageConfig::image_gc), field("images", &GarbageConfig::images),
        field("keep_images", &GarbageConfig::keep_images), field("logs", &GarbageConfig::logs),
        field("routine", &GarbageConfig::routine), field("deadline", &GarbageConfig::deadline),
        field("orphans", &GarbageConfig::orphans), field("orphan_quarantine", &GarbageConfig::orphan_quarantine));
};

template <>
struct Described<RuntimeUsage> {
    static constexpr auto fields = std::tuple(field("used", &RuntimeUsage::used),
                                              field("inodes", &RuntimeUsage::inodes), field("at", &RuntimeUsage::at));
};
template <>
struct Described<RuntimeImage> {
    static constexpr auto fields =
        std::tuple(field("id", &RuntimeImage::id), field("size", &RuntimeImage::size),
                   field("first_detected", &RuntimeImage::first_detected), field("last_used", &RuntimeImage::last_used),
                   field("pinned", &RuntimeImage::pinned), field("in_use", &RuntimeImage::in_use),
                   field("tags", &RuntimeImage::tags), field("digests", &RuntimeImage::digests),
                   field("spec", &RuntimeImage::spec));
};
template <>
struct Described<RuntimeSandbox> {
    static constexpr auto fields =
        std::tuple(field("id", &RuntimeSandbox::id), field("pod", &RuntimeSandbox::pod),
                   field("ready", &RuntimeSandbox::ready), field("created", &RuntimeSandbox::created),
                   field("name", &RuntimeSandbox::name), field("namespace_name", &RuntimeSandbox::namespace_name),
                   field("attempt", &RuntimeSandbox::attempt), field("handler", &RuntimeSandbox::handler),
                   field("labels", &RuntimeSandbox::labels), field("annotations", &RuntimeSandbox::annotations));
};
template <>
struct Described<RuntimeContainer> {
    static constexpr auto fields =
        std::tuple(field("id", &RuntimeContainer::id), field("pod", &RuntimeContainer::pod),
                   field("name", &RuntimeContainer::name), field("sandbox", &RuntimeContainer::sandbox),
                   field("state", &RuntimeContainer::state), field("created", &RuntimeContainer::created),
                   field("attempt", &RuntimeContainer::attempt), field("image", &RuntimeContainer::image),
                   field("image_ref", &RuntimeContainer::image_ref), field("image_id", &RuntimeContainer::image_id),
                   field("labels", &RuntimeContainer::labels), field("annotations", &RuntimeContainer::annotations),
                   field("layer", &RuntimeContainer::layer), field("image_volumes", &RuntimeContainer::image_volumes));
};
template <>
struct Described<LogDirectory> {
    static constexpr auto fields = std::tuple(field("name", &LogDirectory::name), field("size", &LogDirectory::size));
};
template <>
struct Described<LogLink> {
    static constexpr auto fields = std::tuple(field("path", &LogLink::path), field("dangling", &LogLink::dangling),
                                              field("container", &LogLink::container));
};
template <>
struct Described<RotatedLog> {
    static constexpr auto fields =
        std::tuple(field("path", &RotatedLog::path), field("container", &RotatedLog::container),
                   field("pod", &RotatedLog::pod), field("size", &RotatedLog::size));
};
template <>
struct Described<RuntimeLists> {
    static constexpr auto fields =
        std::tuple(field("images", &RuntimeLists::images), field("sandboxes", &RuntimeLists::sandboxes),
                   field("containers", &RuntimeLists::containers), field("logs", &RuntimeLists::logs));
};
template <>
struct Described<Runtime> {
    static constexpr auto fields =
        std::tuple(field("sandbox_image", &Runtime::sandbox_image), field("images", &Runtime::images),
                   field("sandboxes", &Runtime::sandboxes), field("containers", &Runtime::containers),
                   field("log_directories", &Runtime::log_directories), field("log_links", &Runtime::log_links),
                   field("rotated_logs", &Runtime::rotated_logs), field("whole", &Runtime::whole),
                   field("at", &Runtime::at), field("since", &Runtime::since));
};

template <>
struct Described<Garbage> {
    static constexpr auto fields =
        std::tuple(field("kind", &Garbage::kind), field("id", &Garbage::id), field("name", &Garbage::name),
                   field("pod", &Garbage::pod), field("size", &Garbage::size), field("why", &Garbage::why),
                   field("orphan_of", &Garbage::orphan_of));
};
template <>
struct Described<GarbageOutcome> {
    static constexpr auto fields =
        std::tuple(field("kind", &GarbageOutcome::kind), field("id", &GarbageOutcome::id),
                   field("status", &GarbageOutcome::status), field("error", &GarbageOutcome::error),
                   field("goes_on", &GarbageOutcome::goes_on));
};
template <>
struct Described<DesiredGarbage> {
    static constexpr auto fields = std::tuple(
        field("pass", &DesiredGarbage::pass), field("forced", &DesiredGarbage::forced),
        field("removals", &DesiredGarbage::removals), field("deadline", &DesiredGarbage::deadline),
        field("inventory_since", &DesiredGarbage::inventory_since), field("report_only", &DesiredGarbage::report_only));
};
template <>
struct Described<ReclaimOutcome> {
    static constexpr auto fields =
        std::tuple(field("errors", &ReclaimOutcome::errors), field("pass", &ReclaimOutcome::pass),
                   field("removals", &ReclaimOutcome::removals), field("freed", &ReclaimOutcome::freed),
                   field("forced", &ReclaimOutcome::forced), field("orphans", &ReclaimOutcome::orphans));
};
template <>
struct Described<UnknownOwner> {
    static constexpr auto fields =
        std::tuple(field("pod", &UnknownOwner::pod), field("since", &UnknownOwner::since),
                   field("reported", &UnknownOwner::reported), field("failures", &UnknownOwner::failures),
                   field("again_at", &UnknownOwner::again_at));
};
template <>
struct Described<Collecting> {
    static constexpr auto fields = std::tuple(
        field("passes", &Collecting::passes), field("routine", &Collecting::routine),
        field("containers_at", &Collecting::containers_at), field("images_at", &Collecting::images_at),
        field("futile_inventory", &Collecting::futile_inventory), field("orphans_at", &Collecting::orphans_at),
        field("unknown", &Collecting::unknown), field("unknown_of", &Collecting::unknown_of),
        field("futile_for", &Collecting::futile_for), field("futile_removals", &Collecting::futile_removals),
        field("announced_pass", &Collecting::announced_pass));
};
template <>
struct Described<DiskWait> {
    static constexpr auto fields =
        std::tuple(field("since", &DiskWait::since), field("is_known", &DiskWait::is_known),
                   field("calm_since", &DiskWait::calm_since), field("told", &DiskWait::told));
};
template <>
struct Described<Freeing> {
    static constexpr auto fields = std::tuple(
        field("pod", &Freeing::pod), field("pod_name", &Freeing::pod_name), field("cgroup", &Freeing::cgroup),
        field("emptied_at", &Freeing::emptied_at), field("removed_at", &Freeing::removed_at));
};

}  // namespace evictd::codec

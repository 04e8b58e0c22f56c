// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a tape holds of every struct that decide() is given: each field named once, for writing and for reading. A field
// that is added to a struct and not here does not compile. How values look as text is not here: that is tape_write.hpp.
#pragma once

#include <tuple>

#include "evictd/model/config.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"
#include "kernel_events.hpp"
#include "tape_field.hpp"
#include "tape_fields_ladder.hpp"
#include "tape_fields_pod.hpp"
#include "tape_fields_pod_status.hpp"
#include "tape_fields_runtime.hpp"
#include "tape_fields_stall.hpp"
#include "tape_fields_trend.hpp"

namespace evictd::codec {

template <>
struct Described<Bytes> {
    static constexpr auto fields = std::tuple(field("value", &Bytes::value));
};
template <>
struct Described<Amount> {
    static constexpr auto fields = std::tuple(field("value", &Amount::value));
};
template <>
struct Described<PodUid> {
    static constexpr auto fields = std::tuple(field("value", &PodUid::value));
};
template <>
struct Described<CgroupId> {
    static constexpr auto fields = std::tuple(field("value", &CgroupId::value));
};

// ---- the configuration

template <>
struct Described<ThresholdValue> {
    static constexpr auto fields = std::tuple(field("value", &ThresholdValue::value));
};
template <>
struct Described<Threshold> {
    static constexpr auto fields =
        std::tuple(field("signal", &Threshold::signal), field("value", &Threshold::value),
                   field("grace_period", &Threshold::grace_period), field("min_reclaim", &Threshold::min_reclaim),
                   field("time_left", &Threshold::time_left));
};
template <>
struct Described<EvictionConfig> {
    static constexpr auto fields = std::tuple(
        field("thresholds", &EvictionConfig::thresholds),
        field("pressure_transition_period", &EvictionConfig::pressure_transition_period),
        field("max_pod_grace_period", &EvictionConfig::max_pod_grace_period),
        field("soft_eviction_grace", &EvictionConfig::soft_eviction_grace),
        field("local_storage_isolation", &EvictionConfig::local_storage_isolation),
        field("ranking", &EvictionConfig::ranking), field("tie_break", &EvictionConfig::tie_break),
        field("shed_sockets", &EvictionConfig::shed_sockets), field("shed_pods", &EvictionConfig::shed_pods),
        field("stalls", &EvictionConfig::stalls), field("confirm_pressure", &EvictionConfig::confirm_pressure),
        field("time_to_exhaustion", &EvictionConfig::time_to_exhaustion),
        field("time_to_exhaustion_grace_period", &EvictionConfig::time_to_exhaustion_grace_period),
        field("disk_time_to_exhaustion", &EvictionConfig::disk_time_to_exhaustion),
        field("disk_time_to_exhaustion_grace_period", &EvictionConfig::disk_time_to_exhaustion_grace_period),
        field("memory_available", &EvictionConfig::memory_available), field("ladder", &EvictionConfig::ladder),
        field("node_status", &EvictionConfig::node_status), field("look_period", &EvictionConfig::look_period),
        field("pod_statuses", &EvictionConfig::pod_statuses),
        field("soft_eviction_api", &EvictionConfig::soft_eviction_api), field("admission", &EvictionConfig::admission),
        field("taint_eviction", &EvictionConfig::taint_eviction),
        field("active_deadlines", &EvictionConfig::active_deadlines),
        field("kept_terminated_pods", &EvictionConfig::kept_terminated_pods),
        field("garbage", &EvictionConfig::garbage));
};

// ---- what was seen of the node

template <>
struct Described<KernelEvent> {
    static constexpr auto fields = std::tuple(field("time", &KernelEvent::time), field("kind", &KernelEvent::kind));
};
template <>
struct Described<Cause> {
    static constexpr auto fields = std::tuple(field("kind", &Cause::kind), field("event", &Cause::event),
                                              field("detected_at", &Cause::detected_at));
};
template <>
struct Described<AvailableMemory> {
    static constexpr auto fields =
        std::tuple(field("kubelet", &AvailableMemory::kubelet), field("reclaimable", &AvailableMemory::reclaimable),
                   field("compared", &AvailableMemory::compared));
};
template <>
struct Described<Reading> {
    static constexpr auto fields =
        std::tuple(field("available", &Reading::available), field("capacity", &Reading::capacity),
                   field("at", &Reading::at), field("memory", &Reading::memory));
};
template <>
struct Described<ContainerUsage> {
    static constexpr auto fields =
        std::tuple(field("name", &ContainerUsage::name), field("working_set", &ContainerUsage::working_set),
                   field("rootfs", &ContainerUsage::rootfs), field("logs", &ContainerUsage::logs));
};
template <>
struct Described<VolumeUsage> {
    static constexpr auto fields = std::tuple(field("name", &VolumeUsage::name), field("used", &VolumeUsage::used));
};
template <>
struct Described<DiskUsage> {
    static constexpr auto fields =
        std::tuple(field("rootfs", &DiskUsage::rootfs), field("logs", &DiskUsage::logs),
                   field("volumes", &DiskUsage::volumes), field("host_path", &DiskUsage::host_path),
                   field("rootfs_inodes", &DiskUsage::rootfs_inodes), field("logs_inodes", &DiskUsage::logs_inodes),
                   field("volumes_inodes", &DiskUsage::volumes_inodes), field("empty_dirs", &DiskUsage::empty_dirs));
};
template <>
struct Described<PodUsage> {
    static constexpr auto fields = std::tuple(
        field("usage", &PodUsage::usage), field("working_set", &PodUsage::working_set), field("anon", &PodUsage::anon),
        field("file", &PodUsage::file), field("processes", &PodUsage::processes), field("disk", &PodUsage::disk),
        field("containers", &PodUsage::containers), field("disk_partial", &PodUsage::disk_partial));
};
template <>
struct Described<ObservedPod> {
    static constexpr auto fields = std::tuple(
        field("pod", &ObservedPod::pod), field("usage", &ObservedPod::usage), field("cgroup", &ObservedPod::cgroup),
        field("populated", &ObservedPod::populated), field("emptied_at", &ObservedPod::emptied_at),
        field("stall", &ObservedPod::stall), field("holds_us", &ObservedPod::holds_us),
        field("arrived_at", &ObservedPod::arrived_at), field("departed", &ObservedPod::departed));
};
template <>
struct Described<Action> {
    static constexpr auto fields =
        std::tuple(field("kind", &Action::kind), field("pod", &Action::pod), field("pod_name", &Action::pod_name),
                   field("cgroup", &Action::cgroup), field("forks", &Action::forks));
};
template <>
struct Described<Outcome> {
    static constexpr auto fields = std::tuple(
        field("action", &Outcome::action), field("status", &Outcome::status), field("decided_at", &Outcome::decided_at),
        field("delivered_at", &Outcome::delivered_at), field("processes", &Outcome::processes),
        field("method", &Outcome::method), field("error", &Outcome::error));
};
template <>
struct Described<ObservedVictim> {
    static constexpr auto fields =
        std::tuple(field("pod", &ObservedVictim::pod), field("cgroup", &ObservedVictim::cgroup),
                   field("populated", &ObservedVictim::populated), field("held", &ObservedVictim::held),
                   field("tasks", &ObservedVictim::tasks), field("on_disk", &ObservedVictim::on_disk),
                   field("volumes", &ObservedVictim::volumes), field("removed", &ObservedVictim::removed));
};
template <>
struct Described<UnknownPod> {
    static constexpr auto fields =
        std::tuple(field("pod", &UnknownPod::pod), field("cgroup", &UnknownPod::cgroup),
                   field("first_seen", &UnknownPod::first_seen), field("working_set", &UnknownPod::working_set),
                   field("populated", &UnknownPod::populated));
};
template <>
struct Described<LeftCgroup> {
    static constexpr auto fields = std::tuple(field("pod", &LeftCgroup::pod), field("path", &LeftCgroup::path));
};
template <>
struct Described<TimedLooks> {
    static constexpr auto fields =
        std::tuple(field("shortest", &TimedLooks::shortest), field("longest", &TimedLooks::longest),
                   field("growth_per_second", &TimedLooks::growth_per_second));
};
template <>
struct Described<Watching> {
    static constexpr auto fields = std::tuple(
        field("crossed", &Watching::crossed), field("timed", &Watching::timed), field("stalls", &Watching::stalls),
        field("exits", &Watching::exits), field("counts_whole", &Watching::counts_whole),
        field("list_again_at", &Watching::list_again_at), field("claim_again_at", &Watching::claim_again_at));
};
template <>
struct Described<Observation> {
    static constexpr auto fields = std::tuple(
        field("cause", &Observation::cause), field("at", &Observation::at), field("wall", &Observation::wall),
        field("readings", &Observation::readings), field("pods", &Observation::pods),
        field("outcomes", &Observation::outcomes), field("fs_layout", &Observation::fs_layout),
        field("reclaimed", &Observation::reclaimed), field("stalls", &Observation::stalls),
        field("rungs", &Observation::rungs), field("victims", &Observation::victims),
        field("unknown_pods", &Observation::unknown_pods), field("usage_unknown", &Observation::usage_unknown),
        field("incomplete", &Observation::incomplete), field("pods_unlisted", &Observation::pods_unlisted),
        field("watching", &Observation::watching), field("pod_statuses", &Observation::pod_statuses),
        field("recalled", &Observation::recalled), field("pods_current", &Observation::pods_current),
        field("node", &Observation::node), field("logind", &Observation::logind),
        field("runtime", &Observation::runtime), field("pods_complete", &Observation::pods_complete),
        field("left_cgroups", &Observation::left_cgroups));
};

// ---- what was remembered

template <>
struct Described<MetThreshold> {
    static constexpr auto fields =
        std::tuple(field("threshold", &MetThreshold::threshold), field("quantity", &MetThreshold::quantity),
                   field("available", &MetThreshold::available), field("capacity", &MetThreshold::capacity),
                   field("first_observed_at", &MetThreshold::first_observed_at));
};
template <>
struct Described<BrokenLimit> {
    static constexpr auto fields = std::tuple(field("kind", &BrokenLimit::kind), field("name", &BrokenLimit::name),
                                              field("limit", &BrokenLimit::limit), field("used", &BrokenLimit::used));
};
template <>
struct Described<Eviction> {
    static constexpr auto fields =
        std::tuple(field("pod", &Eviction::pod), field("threshold", &Eviction::threshold),
                   field("broken_limit", &Eviction::broken_limit), field("stall", &Eviction::stall),
                   field("grace_period", &Eviction::grace_period), field("immediate", &Eviction::immediate),
                   field("message", &Eviction::message), field("annotations", &Eviction::annotations),
                   field("rejected_for", &Eviction::rejected_for));
};
template <>
struct Described<Victim> {
    static constexpr auto fields = std::tuple(
        field("pod", &Victim::pod), field("pod_name", &Victim::pod_name), field("qos", &Victim::qos),
        field("priority", &Victim::priority), field("usage", &Victim::usage), field("eviction", &Victim::eviction),
        field("cause", &Victim::cause), field("decided_at", &Victim::decided_at), field("kill_at", &Victim::kill_at),
        field("killed_at", &Victim::killed_at), field("emptied_at", &Victim::emptied_at),
        field("failed", &Victim::failed), field("error", &Victim::error));
};
template <>
struct Described<FirstObserved> {
    static constexpr auto fields =
        std::tuple(field("threshold", &FirstObserved::threshold), field("at", &FirstObserved::at));
};
template <>
struct Described<InFlight> {
    static constexpr auto fields =
        std::tuple(field("victim", &InFlight::victim), field("cgroup", &InFlight::cgroup),
                   field("kill_sent", &InFlight::kill_sent), field("dry_run", &InFlight::dry_run),
                   field("acted_at", &InFlight::acted_at), field("available", &InFlight::available),
                   field("failures", &InFlight::failures), field("retry_at", &InFlight::retry_at));
};
template <>
struct Described<Owing> {
    static constexpr auto fields = std::tuple(
        field("victim", &Owing::victim), field("cgroup", &Owing::cgroup), field("available", &Owing::available),
        field("left", &Owing::left), field("returned_at", &Owing::returned_at), field("overdue", &Owing::overdue));
};
template <>
struct Described<Reaping> {
    static constexpr auto fields =
        std::tuple(field("pod", &Reaping::pod), field("cgroup", &Reaping::cgroup),
                   field("emptied_at", &Reaping::emptied_at), field("tasks", &Reaping::tasks));
};
template <>
struct Described<PassedOver> {
    static constexpr auto fields =
        std::tuple(field("pod", &PassedOver::pod), field("cgroup", &PassedOver::cgroup),
                   field("until", &PassedOver::until), field("failures", &PassedOver::failures));
};
template <>
struct Described<Reclaiming> {
    static constexpr auto fields = std::tuple(field("asked", &Reclaiming::asked), field("acting", &Reclaiming::acting),
                                              field("garbage", &Reclaiming::garbage), field("more", &Reclaiming::more),
                                              field("announced", &Reclaiming::announced));
};
template <>
struct Described<State> {
    static constexpr auto fields =
        std::tuple(field("first_observed", &State::first_observed), field("thresholds_met", &State::thresholds_met),
                   field("condition_last_observed", &State::condition_last_observed),
                   field("conditions", &State::conditions), field("last_readings", &State::last_readings),
                   field("in_flight", &State::in_flight), field("owing", &State::owing),
                   field("passed_over", &State::passed_over), field("reclaiming", &State::reclaiming),
                   field("evicted", &State::evicted), field("first_stalled", &State::first_stalled),
                   field("relieved_at", &State::relieved_at), field("trends", &State::trends),
                   field("disk_trends", &State::disk_trends), field("pod_disk_trends", &State::pod_disk_trends),
                   field("ladder", &State::ladder), field("awaiting_since", &State::awaiting_since),
                   field("ended", &State::ended), field("node_stall_last_observed", &State::node_stall_last_observed),
                   field("condition_since", &State::condition_since), field("rejected", &State::rejected),
                   field("taint_evictions", &State::taint_evictions), field("removals", &State::removals),
                   field("collecting", &State::collecting), field("reaping", &State::reaping),
                   field("available_once_reaped", &State::available_once_reaped), field("freeing", &State::freeing),
                   field("disk_wait", &State::disk_wait), field("disk_relieved_at", &State::disk_relieved_at));
};

}  // namespace evictd::codec

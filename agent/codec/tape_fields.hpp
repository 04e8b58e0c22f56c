// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a tape holds of every struct that decide() is given: each field named once, for writing and for reading. A field
// that is added to a struct and not here does not compile. How values look as text is not here: that is tape_write.hpp.
#pragma once

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
    static constexpr auto fields = described(field<&Bytes::value>("value"));
};
template <>
struct Described<Amount> {
    static constexpr auto fields = described(field<&Amount::value>("value"));
};
template <>
struct Described<PodUid> {
    static constexpr auto fields = described(field<&PodUid::value>("value"));
};
template <>
struct Described<CgroupId> {
    static constexpr auto fields = described(field<&CgroupId::value>("value"));
};

// ---- the configuration

template <>
struct Described<ThresholdValue> {
    static constexpr auto fields = described(field<&ThresholdValue::value>("value"));
};
template <>
struct Described<Threshold> {
    static constexpr auto fields =
        described(field<&Threshold::signal>("signal"), field<&Threshold::value>("value"),
                  field<&Threshold::grace_period>("grace_period"), field<&Threshold::min_reclaim>("min_reclaim"),
                  field<&Threshold::time_left>("time_left"));
};
template <>
struct Described<EvictionConfig> {
    static constexpr auto fields = described(
        field<&EvictionConfig::thresholds>("thresholds"),
        field<&EvictionConfig::pressure_transition_period>("pressure_transition_period"),
        field<&EvictionConfig::max_pod_grace_period>("max_pod_grace_period"),
        field<&EvictionConfig::soft_eviction_grace>("soft_eviction_grace"),
        field<&EvictionConfig::local_storage_isolation>("local_storage_isolation"),
        field<&EvictionConfig::ranking>("ranking"), field<&EvictionConfig::tie_break>("tie_break"),
        field<&EvictionConfig::shed_sockets>("shed_sockets"), field<&EvictionConfig::shed_pods>("shed_pods"),
        field<&EvictionConfig::stalls>("stalls"), field<&EvictionConfig::confirm_pressure>("confirm_pressure"),
        field<&EvictionConfig::time_to_exhaustion>("time_to_exhaustion"),
        field<&EvictionConfig::time_to_exhaustion_grace_period>("time_to_exhaustion_grace_period"),
        field<&EvictionConfig::disk_time_to_exhaustion>("disk_time_to_exhaustion"),
        field<&EvictionConfig::disk_time_to_exhaustion_grace_period>("disk_time_to_exhaustion_grace_period"),
        field<&EvictionConfig::memory_available>("memory_available"), field<&EvictionConfig::ladder>("ladder"),
        field<&EvictionConfig::node_status>("node_status"), field<&EvictionConfig::look_period>("look_period"),
        field<&EvictionConfig::pod_statuses>("pod_statuses"),
        field<&EvictionConfig::soft_eviction_api>("soft_eviction_api"), field<&EvictionConfig::admission>("admission"),
        field<&EvictionConfig::taint_eviction>("taint_eviction"),
        field<&EvictionConfig::active_deadlines>("active_deadlines"),
        field<&EvictionConfig::kept_terminated_pods>("kept_terminated_pods"),
        field<&EvictionConfig::garbage>("garbage"));
};

// ---- what was seen of the node

template <>
struct Described<KernelEvent> {
    static constexpr auto fields = described(field<&KernelEvent::time>("time"), field<&KernelEvent::kind>("kind"));
};
template <>
struct Described<Cause> {
    static constexpr auto fields = described(field<&Cause::kind>("kind"), field<&Cause::event>("event"),
                                             field<&Cause::detected_at>("detected_at"));
};
template <>
struct Described<AvailableMemory> {
    static constexpr auto fields =
        described(field<&AvailableMemory::kubelet>("kubelet"), field<&AvailableMemory::reclaimable>("reclaimable"),
                  field<&AvailableMemory::compared>("compared"));
};
template <>
struct Described<Reading> {
    static constexpr auto fields =
        described(field<&Reading::available>("available"), field<&Reading::capacity>("capacity"),
                  field<&Reading::at>("at"), field<&Reading::memory>("memory"));
};
template <>
struct Described<ContainerUsage> {
    static constexpr auto fields =
        described(field<&ContainerUsage::name>("name"), field<&ContainerUsage::working_set>("working_set"),
                  field<&ContainerUsage::rootfs>("rootfs"), field<&ContainerUsage::logs>("logs"));
};
template <>
struct Described<VolumeUsage> {
    static constexpr auto fields = described(field<&VolumeUsage::name>("name"), field<&VolumeUsage::used>("used"));
};
template <>
struct Described<DiskUsage> {
    static constexpr auto fields =
        described(field<&DiskUsage::rootfs>("rootfs"), field<&DiskUsage::logs>("logs"),
                  field<&DiskUsage::volumes>("volumes"), field<&DiskUsage::host_path>("host_path"),
                  field<&DiskUsage::rootfs_inodes>("rootfs_inodes"), field<&DiskUsage::logs_inodes>("logs_inodes"),
                  field<&DiskUsage::volumes_inodes>("volumes_inodes"), field<&DiskUsage::empty_dirs>("empty_dirs"));
};
template <>
struct Described<PodUsage> {
    static constexpr auto fields = described(
        field<&PodUsage::usage>("usage"), field<&PodUsage::working_set>("working_set"), field<&PodUsage::anon>("anon"),
        field<&PodUsage::file>("file"), field<&PodUsage::processes>("processes"), field<&PodUsage::disk>("disk"),
        field<&PodUsage::containers>("containers"), field<&PodUsage::disk_partial>("disk_partial"));
};
template <>
struct Described<ObservedPod> {
    static constexpr auto fields = described(
        field<&ObservedPod::pod>("pod"), field<&ObservedPod::usage>("usage"), field<&ObservedPod::cgroup>("cgroup"),
        field<&ObservedPod::populated>("populated"), field<&ObservedPod::emptied_at>("emptied_at"),
        field<&ObservedPod::stall>("stall"), field<&ObservedPod::holds_us>("holds_us"),
        field<&ObservedPod::arrived_at>("arrived_at"), field<&ObservedPod::departed>("departed"));
};
template <>
struct Described<Action> {
    static constexpr auto fields =
        described(field<&Action::kind>("kind"), field<&Action::pod>("pod"), field<&Action::pod_name>("pod_name"),
                  field<&Action::cgroup>("cgroup"), field<&Action::forks>("forks"));
};
template <>
struct Described<Outcome> {
    static constexpr auto fields = described(
        field<&Outcome::action>("action"), field<&Outcome::status>("status"), field<&Outcome::decided_at>("decided_at"),
        field<&Outcome::delivered_at>("delivered_at"), field<&Outcome::processes>("processes"),
        field<&Outcome::method>("method"), field<&Outcome::error>("error"));
};
template <>
struct Described<ObservedVictim> {
    static constexpr auto fields =
        described(field<&ObservedVictim::pod>("pod"), field<&ObservedVictim::cgroup>("cgroup"),
                  field<&ObservedVictim::populated>("populated"), field<&ObservedVictim::held>("held"),
                  field<&ObservedVictim::tasks>("tasks"), field<&ObservedVictim::on_disk>("on_disk"),
                  field<&ObservedVictim::volumes>("volumes"), field<&ObservedVictim::removed>("removed"));
};
template <>
struct Described<UnknownPod> {
    static constexpr auto fields =
        described(field<&UnknownPod::pod>("pod"), field<&UnknownPod::cgroup>("cgroup"),
                  field<&UnknownPod::first_seen>("first_seen"), field<&UnknownPod::working_set>("working_set"),
                  field<&UnknownPod::populated>("populated"));
};
template <>
struct Described<LeftCgroup> {
    static constexpr auto fields = described(field<&LeftCgroup::pod>("pod"), field<&LeftCgroup::path>("path"));
};
template <>
struct Described<TimedLooks> {
    static constexpr auto fields =
        described(field<&TimedLooks::shortest>("shortest"), field<&TimedLooks::longest>("longest"),
                  field<&TimedLooks::growth_per_second>("growth_per_second"));
};
template <>
struct Described<Watching> {
    static constexpr auto fields = described(
        field<&Watching::crossed>("crossed"), field<&Watching::timed>("timed"), field<&Watching::stalls>("stalls"),
        field<&Watching::exits>("exits"), field<&Watching::counts_whole>("counts_whole"),
        field<&Watching::list_again_at>("list_again_at"), field<&Watching::claim_again_at>("claim_again_at"));
};
template <>
struct Described<Observation> {
    static constexpr auto fields = described(
        field<&Observation::cause>("cause"), field<&Observation::at>("at"), field<&Observation::wall>("wall"),
        field<&Observation::readings>("readings"), field<&Observation::pods>("pods"),
        field<&Observation::outcomes>("outcomes"), field<&Observation::fs_layout>("fs_layout"),
        field<&Observation::reclaimed>("reclaimed"), field<&Observation::stalls>("stalls"),
        field<&Observation::rungs>("rungs"), field<&Observation::victims>("victims"),
        field<&Observation::unknown_pods>("unknown_pods"), field<&Observation::usage_unknown>("usage_unknown"),
        field<&Observation::incomplete>("incomplete"), field<&Observation::pods_unlisted>("pods_unlisted"),
        field<&Observation::watching>("watching"), field<&Observation::pod_statuses>("pod_statuses"),
        field<&Observation::recalled>("recalled"), field<&Observation::pods_current>("pods_current"),
        field<&Observation::node>("node"), field<&Observation::logind>("logind"),
        field<&Observation::runtime>("runtime"), field<&Observation::pods_complete>("pods_complete"),
        field<&Observation::left_cgroups>("left_cgroups"));
};

// ---- what was remembered

template <>
struct Described<MetThreshold> {
    static constexpr auto fields =
        described(field<&MetThreshold::threshold>("threshold"), field<&MetThreshold::quantity>("quantity"),
                  field<&MetThreshold::available>("available"), field<&MetThreshold::capacity>("capacity"),
                  field<&MetThreshold::first_observed_at>("first_observed_at"));
};
template <>
struct Described<BrokenLimit> {
    static constexpr auto fields = described(field<&BrokenLimit::kind>("kind"), field<&BrokenLimit::name>("name"),
                                             field<&BrokenLimit::limit>("limit"), field<&BrokenLimit::used>("used"));
};
template <>
struct Described<Eviction> {
    static constexpr auto fields =
        described(field<&Eviction::pod>("pod"), field<&Eviction::threshold>("threshold"),
                  field<&Eviction::broken_limit>("broken_limit"), field<&Eviction::stall>("stall"),
                  field<&Eviction::grace_period>("grace_period"), field<&Eviction::immediate>("immediate"),
                  field<&Eviction::message>("message"), field<&Eviction::annotations>("annotations"),
                  field<&Eviction::rejected_for>("rejected_for"));
};
template <>
struct Described<Victim> {
    static constexpr auto fields = described(
        field<&Victim::pod>("pod"), field<&Victim::pod_name>("pod_name"), field<&Victim::qos>("qos"),
        field<&Victim::priority>("priority"), field<&Victim::usage>("usage"), field<&Victim::eviction>("eviction"),
        field<&Victim::cause>("cause"), field<&Victim::decided_at>("decided_at"), field<&Victim::kill_at>("kill_at"),
        field<&Victim::killed_at>("killed_at"), field<&Victim::emptied_at>("emptied_at"),
        field<&Victim::failed>("failed"), field<&Victim::error>("error"));
};
template <>
struct Described<FirstObserved> {
    static constexpr auto fields =
        described(field<&FirstObserved::threshold>("threshold"), field<&FirstObserved::at>("at"));
};
template <>
struct Described<InFlight> {
    static constexpr auto fields =
        described(field<&InFlight::victim>("victim"), field<&InFlight::cgroup>("cgroup"),
                  field<&InFlight::kill_sent>("kill_sent"), field<&InFlight::dry_run>("dry_run"),
                  field<&InFlight::acted_at>("acted_at"), field<&InFlight::available>("available"),
                  field<&InFlight::failures>("failures"), field<&InFlight::retry_at>("retry_at"));
};
template <>
struct Described<Owing> {
    static constexpr auto fields = described(
        field<&Owing::victim>("victim"), field<&Owing::cgroup>("cgroup"), field<&Owing::available>("available"),
        field<&Owing::left>("left"), field<&Owing::returned_at>("returned_at"), field<&Owing::overdue>("overdue"));
};
template <>
struct Described<Reaping> {
    static constexpr auto fields =
        described(field<&Reaping::pod>("pod"), field<&Reaping::cgroup>("cgroup"),
                  field<&Reaping::emptied_at>("emptied_at"), field<&Reaping::tasks>("tasks"));
};
template <>
struct Described<PassedOver> {
    static constexpr auto fields =
        described(field<&PassedOver::pod>("pod"), field<&PassedOver::cgroup>("cgroup"),
                  field<&PassedOver::until>("until"), field<&PassedOver::failures>("failures"));
};
template <>
struct Described<Reclaiming> {
    static constexpr auto fields = described(field<&Reclaiming::asked>("asked"), field<&Reclaiming::acting>("acting"),
                                             field<&Reclaiming::garbage>("garbage"), field<&Reclaiming::more>("more"),
                                             field<&Reclaiming::announced>("announced"));
};
template <>
struct Described<State> {
    static constexpr auto fields =
        described(field<&State::first_observed>("first_observed"), field<&State::thresholds_met>("thresholds_met"),
                  field<&State::condition_last_observed>("condition_last_observed"),
                  field<&State::conditions>("conditions"), field<&State::last_readings>("last_readings"),
                  field<&State::in_flight>("in_flight"), field<&State::owing>("owing"),
                  field<&State::passed_over>("passed_over"), field<&State::reclaiming>("reclaiming"),
                  field<&State::evicted>("evicted"), field<&State::first_stalled>("first_stalled"),
                  field<&State::relieved_at>("relieved_at"), field<&State::trends>("trends"),
                  field<&State::disk_trends>("disk_trends"), field<&State::pod_disk_trends>("pod_disk_trends"),
                  field<&State::ladder>("ladder"), field<&State::awaiting_since>("awaiting_since"),
                  field<&State::ended>("ended"), field<&State::node_stall_last_observed>("node_stall_last_observed"),
                  field<&State::condition_since>("condition_since"), field<&State::rejected>("rejected"),
                  field<&State::taint_evictions>("taint_evictions"), field<&State::removals>("removals"),
                  field<&State::collecting>("collecting"), field<&State::reaping>("reaping"),
                  field<&State::available_once_reaped>("available_once_reaped"), field<&State::freeing>("freeing"),
                  field<&State::disk_wait>("disk_wait"), field<&State::disk_relieved_at>("disk_relieved_at"));
};

}  // namespace evictd::codec

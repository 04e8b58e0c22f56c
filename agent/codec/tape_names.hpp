// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The words a tape has for enumerators that have no name beside them, and for the alternatives of a variant, in the
// order of their declaration. One that is added and has no word here does not compile.
#pragma once

#include <variant>

#include "evictd/model/config.hpp"
#include "evictd/model/names.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd {

template <>
struct Names<RankingOrder> {
    static constexpr Words<2> words{"kubelet", "qos"};
};
template <>
struct Names<TieBreak> {
    static constexpr Words<2> words{"scale_down", "uid"};
};
template <>
struct Names<SoftEvictionGrace> {
    static constexpr Words<2> words{"pod", "kubelet"};
};
template <>
struct Names<NodeStatusUse> {
    static constexpr Words<3> words{"off", "conditions", "taints"};
};
template <>
struct Names<ReclaimedImages> {
    static constexpr Words<2> words{"unused", "enough"};
};
template <>
struct Names<ReclaimedLogs> {
    static constexpr Words<2> words{"off", "truncate_rotated"};
};
template <>
struct Names<Orphans> {
    static constexpr Words<3> words{"off", "report", "remove"};
};
template <>
struct Names<ContainerState> {
    static constexpr Words<4> words{"created", "running", "exited", "unknown"};
};
template <>
struct Names<CauseKind> {
    static constexpr Words<6> words{"started", "kernel_event", "timer", "pods_changed", "requested", "config"};
};
template <>
struct Names<CgroupChange> {
    static constexpr Words<4> words{"made", "removed", "populated", "emptied"};
};
template <>
struct Names<MemcgLimit> {
    static constexpr Words<2> words{"high", "max"};
};
template <>
struct Names<OomRole> {
    static constexpr Words<3> words{"unknown", "first_process", "child"};
};
template <>
struct Names<FsLayout> {
    static constexpr Words<4> words{"unknown", "single", "dedicated_image_fs", "split"};
};
template <>
struct Names<ActionKind> {
    static constexpr Words<2> words{"terminate", "kill"};
};
template <>
struct Names<OutcomeStatus> {
    static constexpr Words<5> words{"delivered", "dry_run", "vanished", "failed", "refused"};
};
template <>
struct Names<PodOrigin> {
    static constexpr Words<3> words{"api", "static_file", "mirror"};
};
template <>
struct Names<VolumeKind> {
    static constexpr Words<3> words{"other", "empty_dir", "host_path"};
};
template <>
struct Names<PodPhase> {
    static constexpr Words<5> words{"Pending", "Running", "Succeeded", "Failed", "Unknown"};
};
template <>
struct Names<LimitKind> {
    static constexpr Words<3> words{"empty_dir", "pod", "container"};
};
template <>
struct Names<RungStatus> {
    static constexpr Words<3> words{"begun", "ended", "failed"};
};

}  // namespace evictd

namespace evictd::codec {

// Specialized below: `words`, one an alternative.
template <class T>
struct Alternatives;

template <class T>
constexpr const auto& words_of() {
    static_assert(std::variant_size_v<T> == Alternatives<T>::words.size(),
                  "an alternative of this variant has no word");
    return Alternatives<T>::words;
}

template <>
struct Alternatives<std::variant<Quantity, float>> {
    static constexpr Words<2> words{"quantity", "percentage"};
};

}  // namespace evictd::codec

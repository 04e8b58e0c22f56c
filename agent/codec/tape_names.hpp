// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The words a tape has for enumerators and for the alternatives of a variant, in the order of their declaration. An
// enumerator that is added and has no word here does not compile.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <variant>

#include "evictd/model/config.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::codec {

// Specialized below: `words`, one a value.
template <class T>
struct Named;

// Whether some enumerator has this value: the compiler prints a name for it then, and a cast otherwise.
template <auto value>
consteval bool has_enumerator() {
    const std::string_view text = __PRETTY_FUNCTION__;
    constexpr std::string_view before = "value = ";
    return text[text.find(before) + before.size()] != '(';
}

template <class T>
constexpr const auto& words_of() {
    constexpr std::size_t count = Named<T>::words.size();
    if constexpr (std::is_enum_v<T>) {
        static_assert(has_enumerator<static_cast<T>(count - 1)>() && !has_enumerator<static_cast<T>(count)>(),
                      "an enumerator of this type has no word");
    } else {
        static_assert(std::variant_size_v<T> == count, "an alternative of this variant has no word");
    }
    return Named<T>::words;
}

template <std::size_t n>
using Words = std::array<std::string_view, n>;

template <>
struct Named<RankingOrder> {
    static constexpr Words<2> words{"kubelet", "qos"};
};
template <>
struct Named<TieBreak> {
    static constexpr Words<2> words{"scale_down", "uid"};
};
template <>
struct Named<MemoryAvailable> {
    static constexpr Words<2> words{name(MemoryAvailable::kubelet), name(MemoryAvailable::reclaimable)};
};
template <>
struct Named<CauseKind> {
    static constexpr Words<6> words{"started", "kernel_event", "timer", "pods_changed", "requested", "config"};
};
template <>
struct Named<CgroupChange> {
    static constexpr Words<4> words{"made", "removed", "populated", "emptied"};
};
template <>
struct Named<MemcgLimit> {
    static constexpr Words<2> words{"high", "max"};
};
template <>
struct Named<OomRole> {
    static constexpr Words<3> words{"unknown", "first_process", "child"};
};
template <>
struct Named<FsLayout> {
    static constexpr Words<4> words{"unknown", "single", "dedicated_image_fs", "split"};
};
template <>
struct Named<ActionKind> {
    static constexpr Words<2> words{"terminate", "kill"};
};
template <>
struct Named<OutcomeStatus> {
    static constexpr Words<5> words{"delivered", "dry_run", "vanished", "failed", "refused"};
};
template <>
struct Named<QosClass> {
    static constexpr Words<3> words{"Guaranteed", "Burstable", "BestEffort"};
};
template <>
struct Named<PodOrigin> {
    static constexpr Words<3> words{"api", "static_file", "mirror"};
};
template <>
struct Named<VolumeKind> {
    static constexpr Words<3> words{"other", "empty_dir", "host_path"};
};
template <>
struct Named<PodPhase> {
    static constexpr Words<5> words{"Pending", "Running", "Succeeded", "Failed", "Unknown"};
};
template <>
struct Named<NodeReclaim> {
    static constexpr Words<2> words{"containers", "images"};
};
template <>
struct Named<LimitKind> {
    static constexpr Words<3> words{"empty_dir", "pod", "container"};
};
template <>
struct Named<Condition> {
    static constexpr Words<condition_count> words{"MemoryPressure", "DiskPressure", "PIDPressure"};
};
template <>
struct Named<StallResource> {
    static constexpr Words<stall_resource_count> words{"memory", "io", "cpu"};
};
template <>
struct Named<StallKind> {
    static constexpr Words<2> words{"some", "full"};
};
template <>
struct Named<StallScope> {
    static constexpr Words<2> words{"node", "pod"};
};
template <>
struct Named<StallWindow> {
    static constexpr Words<stall_window_count> words{"100ms", "1s", "10s"};
};
template <>
struct Named<RungKind> {
    static constexpr Words<3> words{"reclaim", "squeeze", "freeze"};
};
template <>
struct Named<RungStatus> {
    static constexpr Words<3> words{"begun", "ended", "failed"};
};
template <>
struct Named<Signal> {
    static constexpr Words<signal_count> words = [] {
        Words<signal_count> names{};
        for (std::size_t i = 0; i < signal_count; ++i) names[i] = signal_table[i].name;
        return names;
    }();
};
template <>
struct Named<std::variant<Quantity, float>> {
    static constexpr Words<2> words{"quantity", "percentage"};
};

}  // namespace evictd::codec

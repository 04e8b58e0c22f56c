// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Kernel events, as the event stream publishes them and as a tape keeps them: the only place in this folder that names
// each of them.
#pragma once

#include <string>
#include <tuple>

#include "event.hpp"
#include "evictd/model/kernel_event.hpp"
#include "tape_field.hpp"
#include "tape_names.hpp"

namespace evictd::codec {

// Reason, severity, cause, message and figures. `pod`: namespace/name of the pod it is about; empty: none, or not
// known. An event that is not published leaves the reason empty.
void tell_kernel_event(const KernelEvent& kernel, const std::string& pod, Event& event);

// Which pod it is about; empty: none, or not known.
[[nodiscard]] PodUid pod_told_of(const KernelEvent& kernel);

// What the kernel said, in a phrase: "memory.available fell below 100Mi, to 95.1Mi".
[[nodiscard]] std::string phrase(const KernelEvent& event);

// ---- on a tape: a word for each, in the order of the variant, and the fields

template <>
struct Alternatives<KernelEventKind> {
    static constexpr Words<9> words{"watermark_crossed",   "oom_kill",          "cgroup_life",
                                    "memcg_breach",        "stall_triggered",   "events_lost",
                                    "socket_memory_short", "oom_score_changed", "stall_crossed"};
};
template <>
struct Described<WatermarkCrossed> {
    static constexpr auto fields =
        std::tuple(field("signal", &WatermarkCrossed::signal), field("under", &WatermarkCrossed::under),
                   field("threshold", &WatermarkCrossed::threshold), field("available", &WatermarkCrossed::available));
};
template <>
struct Described<OomKill> {
    static constexpr auto fields = std::tuple(
        field("pid", &OomKill::pid), field("comm", &OomKill::comm), field("memcg", &OomKill::memcg),
        field("cgroup", &OomKill::cgroup), field("limiting_cgroup", &OomKill::limiting_cgroup),
        field("usage", &OomKill::usage), field("limit", &OomKill::limit),
        field("oom_score_adj", &OomKill::oom_score_adj), field("pod", &OomKill::pod),
        field("pod_cgroup", &OomKill::pod_cgroup), field("role", &OomKill::role), field("group", &OomKill::group),
        field("container_cgroup", &OomKill::container_cgroup), field("container", &OomKill::container));
};
template <>
struct Described<CgroupLife> {
    static constexpr auto fields = std::tuple(field("change", &CgroupLife::change),
                                              field("cgroup", &CgroupLife::cgroup), field("path", &CgroupLife::path));
};
template <>
struct Described<MemcgBreach> {
    static constexpr auto fields = std::tuple(
        field("limit_kind", &MemcgBreach::limit_kind), field("cgroup", &MemcgBreach::cgroup),
        field("usage", &MemcgBreach::usage), field("limit", &MemcgBreach::limit), field("pod", &MemcgBreach::pod),
        field("pod_cgroup", &MemcgBreach::pod_cgroup), field("hits", &MemcgBreach::hits),
        field("container_cgroup", &MemcgBreach::container_cgroup), field("container", &MemcgBreach::container));
};
template <>
struct Described<StallTriggered> {
    static constexpr auto fields = std::tuple(field("source", &StallTriggered::source));
};
template <>
struct Described<EventsLost> {
    static constexpr auto fields = std::tuple(field("cause", &EventsLost::cause), field("count", &EventsLost::count));
};
template <>
struct Described<SocketMemoryShort> {
    static constexpr auto fields =
        std::tuple(field("cgroup", &SocketMemoryShort::cgroup), field("protocol", &SocketMemoryShort::protocol),
                   field("used", &SocketMemoryShort::used), field("pressure", &SocketMemoryShort::pressure),
                   field("limit", &SocketMemoryShort::limit), field("pod", &SocketMemoryShort::pod));
};
template <>
struct Described<OomScoreChanged> {
    static constexpr auto fields = std::tuple(
        field("pid", &OomScoreChanged::pid), field("cgroup", &OomScoreChanged::cgroup),
        field("pod_cgroup", &OomScoreChanged::pod_cgroup), field("oom_score_adj", &OomScoreChanged::oom_score_adj));
};
template <>
struct Described<StallCrossed> {
    static constexpr auto fields = std::tuple(
        field("over", &StallCrossed::over), field("window", &StallCrossed::window), field("lost", &StallCrossed::lost),
        field("line", &StallCrossed::line), field("cgroup", &StallCrossed::cgroup));
};

}  // namespace evictd::codec

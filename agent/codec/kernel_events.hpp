// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Kernel events, as the event stream publishes them and as a tape keeps them: the only place in this folder that names
// each of them.
#pragma once

#include <string>

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
        described(field<&WatermarkCrossed::signal>("signal"), field<&WatermarkCrossed::under>("under"),
                  field<&WatermarkCrossed::threshold>("threshold"), field<&WatermarkCrossed::available>("available"));
};
template <>
struct Described<OomKill> {
    static constexpr auto fields = described(
        field<&OomKill::pid>("pid"), field<&OomKill::comm>("comm"), field<&OomKill::memcg>("memcg"),
        field<&OomKill::cgroup>("cgroup"), field<&OomKill::limiting_cgroup>("limiting_cgroup"),
        field<&OomKill::usage>("usage"), field<&OomKill::limit>("limit"),
        field<&OomKill::oom_score_adj>("oom_score_adj"), field<&OomKill::pod>("pod"),
        field<&OomKill::pod_cgroup>("pod_cgroup"), field<&OomKill::role>("role"), field<&OomKill::group>("group"),
        field<&OomKill::container_cgroup>("container_cgroup"), field<&OomKill::container>("container"));
};
template <>
struct Described<CgroupLife> {
    static constexpr auto fields = described(field<&CgroupLife::change>("change"), field<&CgroupLife::cgroup>("cgroup"),
                                             field<&CgroupLife::path>("path"));
};
template <>
struct Described<MemcgBreach> {
    static constexpr auto fields = described(
        field<&MemcgBreach::limit_kind>("limit_kind"), field<&MemcgBreach::cgroup>("cgroup"),
        field<&MemcgBreach::usage>("usage"), field<&MemcgBreach::limit>("limit"), field<&MemcgBreach::pod>("pod"),
        field<&MemcgBreach::pod_cgroup>("pod_cgroup"), field<&MemcgBreach::hits>("hits"),
        field<&MemcgBreach::container_cgroup>("container_cgroup"), field<&MemcgBreach::container>("container"));
};
template <>
struct Described<StallTriggered> {
    static constexpr auto fields = described(field<&StallTriggered::source>("source"));
};
template <>
struct Described<EventsLost> {
    static constexpr auto fields = described(field<&EventsLost::cause>("cause"), field<&EventsLost::count>("count"));
};
template <>
struct Described<SocketMemoryShort> {
    static constexpr auto fields =
        described(field<&SocketMemoryShort::cgroup>("cgroup"), field<&SocketMemoryShort::protocol>("protocol"),
                  field<&SocketMemoryShort::used>("used"), field<&SocketMemoryShort::pressure>("pressure"),
                  field<&SocketMemoryShort::limit>("limit"), field<&SocketMemoryShort::pod>("pod"));
};
template <>
struct Described<OomScoreChanged> {
    static constexpr auto fields = described(
        field<&OomScoreChanged::pid>("pid"), field<&OomScoreChanged::cgroup>("cgroup"),
        field<&OomScoreChanged::pod_cgroup>("pod_cgroup"), field<&OomScoreChanged::oom_score_adj>("oom_score_adj"));
};
template <>
struct Described<StallCrossed> {
    static constexpr auto fields = described(field<&StallCrossed::over>("over"), field<&StallCrossed::window>("window"),
                                             field<&StallCrossed::lost>("lost"), field<&StallCrossed::line>("line"),
                                             field<&StallCrossed::cgroup>("cgroup"));
};

}  // namespace evictd::codec

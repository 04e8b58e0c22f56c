// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/decode.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "evictd/abi/event.h"

namespace evictd::kernel {
namespace {

template <class Record>
std::optional<Record> read_as(std::span<const std::byte> bytes) {
    if (bytes.size() < sizeof(Record)) {
        return std::nullopt;
    }
    Record record{};
    std::memcpy(&record, bytes.data(), sizeof(record));
    return record;
}

Bytes bytes_of(std::uint64_t value) {
    return {static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()))};
}

// Up to the first NUL, and never beyond the array.
template <std::size_t N>
std::string text_of(const char (&text)[N]) {  // NOLINT(*-avoid-c-arrays): the kernel's
    return {static_cast<const char*>(text), strnlen(static_cast<const char*>(text), N)};
}

std::optional<KernelEventKind> kind_of(const evictd_watermark_event& record) {
    if (record.signal != EVICTD_SIGNAL_NODE_MEMORY && record.signal != EVICTD_SIGNAL_PODS_MEMORY) {
        return std::nullopt;
    }
    return WatermarkCrossed{.signal = record.signal == EVICTD_SIGNAL_NODE_MEMORY ? Signal::memory_available
                                                                                 : Signal::allocatable_memory_available,
                            .under = record.under != 0,
                            .threshold = bytes_of(record.threshold),
                            .available = bytes_of(record.available)};
}

std::optional<KernelEventKind> kind_of(const evictd_oom_event& record) {
    return OomKill{.pid = record.pid,
                   .comm = text_of(record.comm),
                   .memcg = record.limit_cgroup_id != 0,
                   .cgroup = {record.cgroup_id},
                   .limiting_cgroup = {record.limit_cgroup_id},
                   .usage = bytes_of(record.usage),
                   .limit = bytes_of(record.limit),
                   .oom_score_adj = record.oom_score_adj,
                   .pod = {},
                   .pod_cgroup = {record.pod_cgroup_id},
                   .role = record.role == EVICTD_OOM_FIRST_PROCESS ? OomRole::first_process
                           : record.role == EVICTD_OOM_CHILD       ? OomRole::child
                                                                   : OomRole::unknown,
                   .group = record.group != 0,
                   .container_cgroup = text_of(record.container),
                   .container = {}};
}

std::optional<KernelEventKind> kind_of(const evictd_oom_score_event& record) {
    return OomScoreChanged{.pid = record.pid,
                           .cgroup = {record.cgroup_id},
                           .pod_cgroup = {record.pod_cgroup_id},
                           .oom_score_adj = record.oom_score_adj};
}

std::optional<KernelEventKind> kind_of(const evictd_cgroup_event& record) {
    if (record.change != EVICTD_CGROUP_POPULATED && record.change != EVICTD_CGROUP_EMPTIED) {
        return std::nullopt;
    }
    return CgroupLife{
        .change = record.change == EVICTD_CGROUP_EMPTIED ? CgroupChange::emptied : CgroupChange::populated,
        .cgroup = {record.cgroup_id},
        .path = text_of(record.path)};
}

std::optional<KernelEventKind> kind_of(const evictd_memcg_event& record) {
    if (record.kind != EVICTD_MEMCG_HIGH && record.kind != EVICTD_MEMCG_MAX) {
        return std::nullopt;
    }
    return MemcgBreach{.limit_kind = record.kind == EVICTD_MEMCG_HIGH ? MemcgLimit::high : MemcgLimit::max,
                       .cgroup = {record.cgroup_id},
                       .usage = bytes_of(record.usage),
                       .limit = bytes_of(record.limit),
                       .pod = {},
                       .pod_cgroup = {record.pod_cgroup_id},
                       .hits = record.pod_cgroup_id != 0 ? std::max<std::uint64_t>(1, record.hits) : 0,
                       .container_cgroup = text_of(record.container),
                       .container = {}};
}

std::optional<KernelEventKind> kind_of(const evictd_socket_event& record) {
    return SocketMemoryShort{.cgroup = {record.cgroup_id},
                             .protocol = text_of(record.protocol),
                             .used = bytes_of(record.used),
                             .pressure = bytes_of(record.pressure),
                             .limit = bytes_of(record.limit),
                             .pod = {}};
}

static_assert(static_cast<std::uint32_t>(StallWindow::ten_seconds) == EVICTD_STALL_10S, "windows in the same order");

std::optional<KernelEventKind> kind_of(const evictd_stall_event& record) {
    if (record.window >= EVICTD_STALL_WINDOWS) {
        return std::nullopt;
    }
    return StallCrossed{.over = record.over != 0,
                        .window = static_cast<StallWindow>(record.window),
                        .lost = Duration{bytes_of(record.lost_ns).value},
                        .line = Duration{bytes_of(record.line_ns).value},
                        .cgroup = {record.cgroup_id}};
}

// None: nothing was lost.
std::optional<PodStall> stall_of(const evictd_usage& row) {
    PodStall stall{
        .some = {}, .reclaimed = bytes_of(row.reclaimed), .reclaimed_for_node = bytes_of(row.reclaimed_for_node)};
    for (std::size_t i = 0; i < stall.some.size(); i++) {
        stall.some.at(i) =
            std::min<Duration>(std::chrono::microseconds(row.stalled_us[i]), length(static_cast<StallWindow>(i)));
    }
    const bool lost = std::any_of(stall.some.begin(), stall.some.end(), [](Duration d) { return d > Duration{0}; });
    return lost || stall.reclaimed > Bytes{0} ? std::optional(stall) : std::nullopt;
}

template <class Record>
std::optional<KernelEvent> decode_as(std::span<const std::byte> bytes, MonotonicTime time) {
    const auto record = read_as<Record>(bytes);
    auto kind = record ? kind_of(*record) : std::nullopt;
    return kind ? std::optional(KernelEvent{time, std::move(*kind)}) : std::nullopt;
}

// In the order of enum evictd_event_type.
struct RecordType {
    evictd_event_type type;
    const char* lost;  // the cause, where one found the ring buffer full
    std::optional<KernelEvent> (*decode)(std::span<const std::byte>, MonotonicTime);
};
constexpr std::array<RecordType, EVICTD_EVENT_TYPES - 1> record_types{{
    {EVICTD_EVENT_WATERMARK, loss::watermark, decode_as<evictd_watermark_event>},
    {EVICTD_EVENT_OOM_KILL, loss::oom_kill, decode_as<evictd_oom_event>},
    {EVICTD_EVENT_CGROUP, loss::cgroup, decode_as<evictd_cgroup_event>},
    {EVICTD_EVENT_MEMCG, loss::memcg, decode_as<evictd_memcg_event>},
    {EVICTD_EVENT_SOCKETS, loss::sockets, decode_as<evictd_socket_event>},
    {EVICTD_EVENT_OOM_SCORE, loss::oom_score, decode_as<evictd_oom_score_event>},
    {EVICTD_EVENT_STALL, loss::stall, decode_as<evictd_stall_event>},
}};

constexpr bool in_order() {
    for (std::size_t i = 0; i < record_types.size(); i++) {
        if (record_types[i].type != i + 1) {
            return false;
        }
    }
    return true;
}
static_assert(in_order(), "an event type has no row, or not in its place");

}  // namespace

std::optional<KernelEvent> decode_event(std::span<const std::byte> record) {
    const auto head = read_as<evictd_event>(record);
    if (!head || head->type == 0 || head->type > record_types.size()) {
        return std::nullopt;
    }
    return record_types.at(head->type - 1).decode(record, MonotonicTime{Duration{bytes_of(head->time_ns).value}});
}

std::vector<EventsLost> lost_between(const evictd_drops& before, const evictd_drops& now) {
    using Counters = std::array<std::uint64_t, record_types.size()>;  // as abi/event.h asserts
    const auto old = std::bit_cast<Counters>(before);
    const auto current = std::bit_cast<Counters>(now);
    std::vector<EventsLost> lost;
    for (std::size_t i = 0; i < current.size(); i++) {
        if (current.at(i) > old.at(i)) {
            lost.push_back({record_types.at(i).lost, current.at(i) - old.at(i)});
        }
    }
    return lost;
}

void decode_usage(std::span<const std::byte> rows, std::vector<port::CgroupUsage>& into) {
    while (const auto row = read_as<evictd_usage>(rows)) {
        constexpr std::uint64_t no_limit = ~std::uint64_t{0};
        into.push_back({.id = {row->cgroup_id},
                        .level = static_cast<std::int32_t>(row->level),
                        .usage = bytes_of(row->usage),
                        .limit = row->limit == no_limit ? std::nullopt : std::optional(bytes_of(row->limit)),
                        .inactive_file = bytes_of(row->inactive_file),
                        .active_file = bytes_of(row->active_file),
                        .anon = bytes_of(row->anon),
                        .processes = static_cast<std::int32_t>(row->processes),
                        .stall = stall_of(*row),
                        .populated = (row->flags & EVICTD_USAGE_POPULATED) != 0,
                        .dying = (row->flags & EVICTD_USAGE_DYING) != 0,
                        .whole = (row->flags & EVICTD_USAGE_WHOLE) != 0});
        rows = rows.subspan(sizeof(evictd_usage));
    }
}

}  // namespace evictd::kernel

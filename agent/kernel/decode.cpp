// SPDX-License-Identifier: Apache-2.0
#include "kernel/decode.hpp"

#include <algorithm>
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
                       .limit = bytes_of(record.limit)};
}

template <class Record>
std::optional<KernelEvent> decode_as(std::span<const std::byte> bytes, MonotonicTime time) {
    const auto record = read_as<Record>(bytes);
    auto kind = record ? kind_of(*record) : std::nullopt;
    return kind ? std::optional(KernelEvent{time, std::move(*kind)}) : std::nullopt;
}

}  // namespace

std::optional<KernelEvent> decode_event(std::span<const std::byte> record) {
    const auto head = read_as<evictd_event>(record);
    if (!head) {
        return std::nullopt;
    }
    const MonotonicTime time{Duration{bytes_of(head->time_ns).value}};
    switch (head->type) {
        case EVICTD_EVENT_WATERMARK:
            return decode_as<evictd_watermark_event>(record, time);
        case EVICTD_EVENT_OOM_KILL:
            return decode_as<evictd_oom_event>(record, time);
        case EVICTD_EVENT_CGROUP:
            return decode_as<evictd_cgroup_event>(record, time);
        case EVICTD_EVENT_MEMCG:
            return decode_as<evictd_memcg_event>(record, time);
        default:
            return std::nullopt;
    }
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
                        .processes = static_cast<std::int32_t>(row->processes)});
        rows = rows.subspan(sizeof(evictd_usage));
    }
}

}  // namespace evictd::kernel

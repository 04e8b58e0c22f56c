// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/decode.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "evictd/abi/event.h"

namespace evictd::kernel {
namespace {

constexpr std::uint64_t when = 123'456'789;

template <class Record>
Record record_of(evictd_event_type type) {
    Record record{};
    record.head = {.time_ns = when, .type = type, .size = sizeof(Record)};
    return record;
}

template <class Record>
std::optional<KernelEvent> decode(const Record& record, std::size_t size = sizeof(Record)) {
    return decode_event({reinterpret_cast<const std::byte*>(&record), size});
}

template <class Event, class Record>
Event decoded(const Record& record) {
    const auto event = decode(record);
    EXPECT_TRUE(event);
    EXPECT_EQ(event->time, MonotonicTime(Duration(when)));
    return std::get<Event>(event->kind);
}

TEST(DecodeEvent, AWatermarkEdgeNamesSignalDirectionAndValues) {
    auto record = record_of<evictd_watermark_event>(EVICTD_EVENT_WATERMARK);
    record.threshold = 64 << 20;
    record.available = 63 << 20;
    record.signal = EVICTD_SIGNAL_PODS_MEMORY;
    record.under = 1;
    auto edge = decoded<WatermarkCrossed>(record);
    EXPECT_EQ(edge.signal, Signal::allocatable_memory_available);
    EXPECT_TRUE(edge.under);
    EXPECT_EQ(edge.threshold, 64_MiB);
    EXPECT_EQ(edge.available, 63_MiB);

    record.signal = EVICTD_SIGNAL_NODE_MEMORY;
    record.under = 0;
    edge = decoded<WatermarkCrossed>(record);
    EXPECT_EQ(edge.signal, Signal::memory_available);
    EXPECT_FALSE(edge.under);
}

TEST(DecodeEvent, AStallNamesWindowLossAndPod) {
    auto record = record_of<evictd_stall_event>(EVICTD_EVENT_STALL);
    record.cgroup_id = 7;
    record.lost_ns = 450'000'000;
    record.line_ns = 100'000'000;
    record.window = EVICTD_STALL_1S;
    record.over = 1;
    const auto stall = decoded<StallCrossed>(record);
    EXPECT_TRUE(stall.over);
    EXPECT_EQ(stall.window, StallWindow::second);
    EXPECT_EQ(stall.lost, std::chrono::milliseconds(450));
    EXPECT_EQ(stall.line, std::chrono::milliseconds(100));
    EXPECT_EQ(stall.cgroup, CgroupId{7});
    record.window = EVICTD_STALL_WINDOWS;
    EXPECT_FALSE(decode(record)) << "a window nobody knows";
}

TEST(DecodeUsage, APodThatLostNothingHasNoStallAndNoWindowIsLongerThanItself) {
    std::array<evictd_usage, 2> rows{};
    rows[1].stalled_us[EVICTD_STALL_100MS] = 4'000'000'000;
    rows[1].stalled_us[EVICTD_STALL_10S] = 250'000;
    rows[1].reclaimed = 2 << 20;
    rows[1].reclaimed_for_node = 1 << 20;
    std::vector<port::CgroupUsage> usage;
    decode_usage(std::as_bytes(std::span(rows)), usage);
    ASSERT_EQ(usage.size(), 2U);
    EXPECT_FALSE(usage[0].stall);
    ASSERT_TRUE(usage[1].stall);
    EXPECT_EQ(usage[1].stall->some[0], std::chrono::milliseconds(100));
    EXPECT_EQ(usage[1].stall->some[2], std::chrono::milliseconds(250));
    EXPECT_EQ(usage[1].stall->reclaimed, 2_MiB);
    EXPECT_EQ(usage[1].stall->reclaimed_for_node, 1_MiB);
}

TEST(DecodeEvent, AnOomKillIsACgroupsOwnWhenOneIsNamed) {
    auto record = record_of<evictd_oom_event>(EVICTD_EVENT_OOM_KILL);
    record.cgroup_id = 11;
    record.limit_cgroup_id = 10;
    record.usage = 1 << 20;
    record.limit = 2 << 20;
    record.pid = 4242;
    record.oom_score_adj = -998;
    std::strcpy(record.comm, "java");
    auto kill = decoded<OomKill>(record);
    EXPECT_EQ(kill.pid, 4242);
    EXPECT_EQ(kill.comm, "java");
    EXPECT_TRUE(kill.memcg);
    EXPECT_EQ(kill.cgroup, CgroupId{11});
    EXPECT_EQ(kill.limiting_cgroup, CgroupId{10});
    EXPECT_EQ(kill.usage, 1_MiB);
    EXPECT_EQ(kill.limit, 2_MiB);
    EXPECT_EQ(kill.oom_score_adj, -998);
    EXPECT_EQ(kill.role, OomRole::unknown);
    EXPECT_FALSE(kill.group);

    record.pod_cgroup_id = 9;
    record.role = EVICTD_OOM_CHILD;
    record.group = 1;
    std::strcpy(record.container, "cri-containerd-0123.scope");
    kill = decoded<OomKill>(record);
    EXPECT_EQ(kill.pod_cgroup, CgroupId{9});
    EXPECT_EQ(kill.role, OomRole::child);
    EXPECT_TRUE(kill.group);
    EXPECT_EQ(kill.container_cgroup, "cri-containerd-0123.scope");
    record.role = EVICTD_OOM_FIRST_PROCESS;
    EXPECT_EQ(decoded<OomKill>(record).role, OomRole::first_process);

    record.limit_cgroup_id = 0;
    EXPECT_FALSE(decoded<OomKill>(record).memcg);
}

TEST(DecodeEvent, MemoryRefusedToASocketNamesThePodAndTheProtocolsFigures) {
    auto record = record_of<evictd_socket_event>(EVICTD_EVENT_SOCKETS);
    record.cgroup_id = 12;
    record.used = 90 << 20;
    record.pressure = 100 << 20;
    record.limit = 200 << 20;
    std::memset(record.protocol, 'T', sizeof(record.protocol));  // not ended
    const auto memory = decoded<SocketMemoryShort>(record);
    EXPECT_EQ(memory.cgroup, CgroupId{12});
    EXPECT_EQ(memory.used, 90_MiB);
    EXPECT_EQ(memory.pressure, 100_MiB);
    EXPECT_EQ(memory.limit, 200_MiB);
    EXPECT_EQ(memory.protocol, std::string(EVICTD_PROTOCOL_LENGTH, 'T'));
    EXPECT_FALSE(memory.of_node()) << "the pod's cgroup is short, the node is not";
    record.used = (100 << 20) + 1;
    EXPECT_TRUE(decoded<SocketMemoryShort>(record).of_node());
    EXPECT_FALSE(decode(record, sizeof(record) - 1));
}

TEST(DecodeEvent, AWrittenScoreNamesItsProcessAndValue) {
    auto record = record_of<evictd_oom_score_event>(EVICTD_EVENT_OOM_SCORE);
    record.cgroup_id = 11;
    record.pod_cgroup_id = 10;
    record.pid = 4242;
    record.oom_score_adj = -17;
    const auto changed = decoded<OomScoreChanged>(record);
    EXPECT_EQ(changed.cgroup, CgroupId{11});
    EXPECT_EQ(changed.pod_cgroup, CgroupId{10});
    EXPECT_EQ(changed.pid, 4242);
    EXPECT_EQ(changed.oom_score_adj, -17);
}

TEST(DecodeEvent, EveryCgroupChangeHasItsMeaning) {
    auto record = record_of<evictd_cgroup_event>(EVICTD_EVENT_CGROUP);
    record.cgroup_id = 7;
    std::strcpy(record.path, "/kubepods/pod1");
    const std::pair<evictd_cgroup_change, CgroupChange> meanings[]{{EVICTD_CGROUP_POPULATED, CgroupChange::populated},
                                                                   {EVICTD_CGROUP_EMPTIED, CgroupChange::emptied}};
    for (const auto& [number, meaning] : meanings) {
        record.change = number;
        const auto life = decoded<CgroupLife>(record);
        EXPECT_EQ(life.change, meaning);
        EXPECT_EQ(life.cgroup, CgroupId{7});
        EXPECT_EQ(life.path, "/kubepods/pod1");
    }
}

TEST(DecodeEvent, AMemcgBreachNamesTheLimit) {
    auto record = record_of<evictd_memcg_event>(EVICTD_EVENT_MEMCG);
    record.cgroup_id = 9;
    record.usage = 3 << 20;
    record.limit = 4 << 20;
    record.kind = EVICTD_MEMCG_MAX;
    auto breach = decoded<MemcgBreach>(record);
    EXPECT_EQ(breach.limit_kind, MemcgLimit::max);
    EXPECT_EQ(breach.cgroup, CgroupId{9});
    EXPECT_EQ(breach.usage, 3_MiB);
    EXPECT_EQ(breach.limit, 4_MiB);
    EXPECT_EQ(breach.pod_cgroup, CgroupId{});
    EXPECT_EQ(breach.hits, 0U) << "the root's are not counted";
    record.kind = EVICTD_MEMCG_HIGH;
    EXPECT_EQ(decoded<MemcgBreach>(record).limit_kind, MemcgLimit::high);
}

TEST(DecodeEvent, AMemcgBreachOfAPodNamesTheLimitAndTheCount) {
    auto record = record_of<evictd_memcg_event>(EVICTD_EVENT_MEMCG);
    record.kind = EVICTD_MEMCG_MAX;
    record.pod_cgroup_id = 8;
    record.hits = 5321;
    std::fill(std::begin(record.container), std::end(record.container), 'x');
    auto breach = decoded<MemcgBreach>(record);
    EXPECT_EQ(breach.pod_cgroup, CgroupId{8});
    EXPECT_EQ(breach.hits, 5321U);
    EXPECT_EQ(breach.container_cgroup, std::string(EVICTD_CGROUP_NAME_LENGTH, 'x'));
    record.hits = 0;  // another CPU has reported it in the same moment
    EXPECT_EQ(decoded<MemcgBreach>(record).hits, 1U);
}

TEST(DecodeEvent, WhatWasDroppedIsLostByItsCause) {
    evictd_drops before{}, now{};
    EXPECT_TRUE(lost_between(before, now).empty());
    before.oom_kill = 1;
    now.oom_kill = 3;
    now.stall = 7;
    const auto lost = lost_between(before, now);
    ASSERT_EQ(lost.size(), 2U);
    EXPECT_EQ(lost[0].cause, loss::oom_kill);
    EXPECT_EQ(lost[0].count, 2U);
    EXPECT_EQ(lost[1].cause, loss::stall);
    EXPECT_EQ(lost[1].count, 7U);
}

TEST(DecodeEvent, TextWithoutNulEndsWithItsArray) {
    auto oom = record_of<evictd_oom_event>(EVICTD_EVENT_OOM_KILL);
    std::fill(std::begin(oom.comm), std::end(oom.comm), 'x');
    EXPECT_EQ(decoded<OomKill>(oom).comm, std::string(EVICTD_COMM_LENGTH, 'x'));
    auto life = record_of<evictd_cgroup_event>(EVICTD_EVENT_CGROUP);
    life.change = EVICTD_CGROUP_POPULATED;
    std::fill(std::begin(life.path), std::end(life.path), 'y');
    EXPECT_EQ(decoded<CgroupLife>(life).path, std::string(EVICTD_PATH_LENGTH, 'y'));
}

TEST(DecodeEvent, ARecordShorterThanItsTypeIsRefusedAtEveryLength) {
    const auto check = [](const auto& record) {
        ASSERT_TRUE(decode(record));
        for (std::size_t size = 0; size < sizeof(record); size++) EXPECT_FALSE(decode(record, size)) << size;
    };
    auto watermark = record_of<evictd_watermark_event>(EVICTD_EVENT_WATERMARK);
    watermark.signal = EVICTD_SIGNAL_NODE_MEMORY;
    check(watermark);
    check(record_of<evictd_oom_event>(EVICTD_EVENT_OOM_KILL));
    auto life = record_of<evictd_cgroup_event>(EVICTD_EVENT_CGROUP);
    life.change = EVICTD_CGROUP_EMPTIED;
    check(life);
    auto memcg = record_of<evictd_memcg_event>(EVICTD_EVENT_MEMCG);
    memcg.kind = EVICTD_MEMCG_MAX;
    check(memcg);
}

TEST(DecodeEvent, ALongerRecordIsOneOfANewerKernelSideAndIsRead) {
    struct {
        evictd_oom_event event;
        std::uint64_t more;
    } longer{record_of<evictd_oom_event>(EVICTD_EVENT_OOM_KILL), 5};
    longer.event.pid = 3;
    const auto event = decode(longer);
    ASSERT_TRUE(event);
    EXPECT_EQ(std::get<OomKill>(event->kind).pid, 3);
}

TEST(DecodeEvent, UnknownTypesAndUnknownKindsWithinATypeAreRefused) {
    for (const std::uint32_t type : {0U, static_cast<std::uint32_t>(EVICTD_EVENT_TYPES), ~0U}) {
        auto record = record_of<evictd_cgroup_event>(EVICTD_EVENT_CGROUP);
        record.change = EVICTD_CGROUP_POPULATED;
        record.head.type = type;
        EXPECT_FALSE(decode(record)) << type;
    }
    for (const std::uint32_t nonsense : {0U, 77U, ~0U}) {
        auto watermark = record_of<evictd_watermark_event>(EVICTD_EVENT_WATERMARK);
        watermark.signal = nonsense;
        EXPECT_FALSE(decode(watermark));
        auto life = record_of<evictd_cgroup_event>(EVICTD_EVENT_CGROUP);
        life.change = nonsense;
        EXPECT_FALSE(decode(life));
        auto memcg = record_of<evictd_memcg_event>(EVICTD_EVENT_MEMCG);
        memcg.kind = nonsense;
        EXPECT_FALSE(decode(memcg));
    }
}

TEST(DecodeEvent, NumbersBeyondOurTypesAreCappedAndNeverNegative) {
    auto record = record_of<evictd_watermark_event>(EVICTD_EVENT_WATERMARK);
    record.signal = EVICTD_SIGNAL_NODE_MEMORY;
    record.head.time_ns = ~std::uint64_t{0};
    record.available = ~std::uint64_t{0};
    const auto event = decode(record);
    ASSERT_TRUE(event);
    EXPECT_EQ(std::get<WatermarkCrossed>(event->kind).available.value, std::numeric_limits<std::int64_t>::max());
    EXPECT_GT(event->time.time_since_epoch().count(), 0);
}

TEST(DecodeUsage, RowsAreAppendedInOrderAndHalfARowIsIgnored) {
    evictd_usage rows[3]{};
    rows[0] = {.cgroup_id = 1,
               .usage = 10,
               .limit = ~0ULL,
               .inactive_file = 2,
               .active_file = 3,
               .anon = 4,
               .level = 1,
               .processes = 5,
               .flags = EVICTD_USAGE_POPULATED};
    rows[1] = {.cgroup_id = 2, .limit = 100, .level = 2, .flags = EVICTD_USAGE_DYING | EVICTD_USAGE_WHOLE};
    std::vector<port::CgroupUsage> usage{port::CgroupUsage{.id = {99}}};
    decode_usage({reinterpret_cast<const std::byte*>(rows), 2 * sizeof(evictd_usage) + 7}, usage);
    ASSERT_EQ(usage.size(), 3U);
    EXPECT_EQ(usage[0].id, CgroupId{99});
    EXPECT_EQ(usage[1].id, CgroupId{1});
    EXPECT_EQ(usage[1].level, 1);
    EXPECT_EQ(usage[1].usage, 10_B);
    EXPECT_FALSE(usage[1].limit);
    EXPECT_EQ(usage[1].inactive_file, 2_B);
    EXPECT_EQ(usage[1].active_file, 3_B);
    EXPECT_EQ(usage[1].anon, 4_B);
    EXPECT_EQ(usage[1].processes, 5);
    EXPECT_TRUE(usage[1].populated);
    EXPECT_FALSE(usage[1].dying);
    EXPECT_FALSE(usage[1].whole);
    EXPECT_FALSE(usage[2].populated);
    EXPECT_TRUE(usage[2].dying);
    EXPECT_TRUE(usage[2].whole);
    EXPECT_EQ(usage[2].limit, 100_B);
}

}  // namespace
}  // namespace evictd::kernel

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/scenario.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "evictd/model/quantity.hpp"

namespace evictd::demo {
namespace {

// All figures below are as scaled() takes them.
constexpr std::int64_t scale_reference = 1024;
constexpr Bytes most = 1_GiB;
// Below this the pods' own few MiB of code and stacks would blur the picture.
constexpr Bytes least = 128_MiB;
// The demo takes at most this part of what is left: nothing else on the machine may feel it.
constexpr std::int64_t share = 4;
// Limits are whole multiples, so that the thresholds made from them are short numbers.
constexpr std::int64_t step = std::int64_t{16} << 20U;

struct Row {
    const char* name_space;
    const char* name;
    QosClass qos;
    std::int32_t priority;
    std::int64_t request;
    std::int64_t holds;
};

// The critical pod is bigger than the one that grows will ever be, and as far over its request: by size, and by the
// kernel's badness, it would be the victim. shop/search is over its request too, but has a higher priority; the
// BestEffort pods have the same priority as the grower and are smaller.
constexpr std::array<Row, 8> pod_rows{{
    {"payments", "db", QosClass::guaranteed, 1000, 160, 140},
    {"payments", "api", QosClass::guaranteed, 1000, 64, 44},
    {"shop", "web", QosClass::burstable, 100, 96, 60},
    {"shop", "search", QosClass::burstable, 100, 40, 64},
    {"batch", "report", QosClass::burstable, 0, 48, 16},
    {"batch", "thumbnails", QosClass::best_effort, 0, 0, 36},
    {"dev", "notebook", QosClass::best_effort, 0, 0, 20},
    {"kube-system", "log-store", QosClass::burstable, system_node_critical, 32, 272},
}};
constexpr std::size_t actor_row = 4;
constexpr std::size_t neighbour_row = 2;

// The tail of the pod_rows' sum is 652 MiB, so 372 are left to begin with.
constexpr std::int64_t hard_for_spike = 192;  // the grower reaches some 196 MiB and has as much before the limit
constexpr std::int64_t soft_for_leak = 264;   // after some 2 s of growing
constexpr std::int64_t hard_for_leak = 72;    // stays out of reach: the grace period takes 120 MiB
constexpr std::int64_t leak_per_second = 60;
// Longer than the play: what is shed gives its memory back by itself, and no pod is evicted.
constexpr std::chrono::seconds grace_for_sockets = std::chrono::seconds(120);
constexpr std::int64_t hard_for_thrash = 72;  // file pages that nobody uses twice count as free: far out of reach
constexpr std::int64_t thrash_files = 640;    // 372 MiB are left for them
constexpr std::int32_t thrash_stall = 20;     // percent of a second; the pods' readers reach several times that

std::vector<PodPlan> pods_for(Bytes limit) {
    std::vector<PodPlan> pods;
    for (const auto& row : pod_rows) {
        PodPlan pod{row.name_space, row.name, "", row.qos, row.priority, row.priority == system_node_critical, {}, {}};
        pod.uid = "e71c7d00-0000-4000-8000-00000000000" + std::to_string(pods.size() + 1);
        pod.request = scaled(row.request, limit);
        pod.holds = scaled(row.holds, limit);
        pods.push_back(std::move(pod));
    }
    return pods;
}

}  // namespace

Bytes scaled(std::int64_t figure, Bytes limit) {
    constexpr std::int64_t whole = (1_MiB).value;
    return {figure * (limit.value / scale_reference) / whole * whole};
}

Result<Bytes> limit_for(Bytes available) {
    const Bytes limit{std::min(most.value, available.value / share) / step * step};
    if (limit < least) {
        return fail(ErrorKind::failed, "demo", "this machine has too little memory left",
                    fmt::format("it needs {}Mi available, and would use {}Mi", (least.value * share) >> 20U,
                                least.value >> 20U));
    }
    return limit;
}

Plan plan_for(Scenario scenario, Bytes limit) {
    Plan plan{.scenario = scenario, .limit = limit, .pods = pods_for(limit), .actor = actor_row};
    const std::string actor = plan.actor_pod().full_name();
    plan.hard = scaled(hard_for_spike, limit);
    switch (scenario) {
        case Scenario::spike:
            plan.headline = actor + " takes memory as fast as the machine lets it";
            break;
        case Scenario::leak:
            plan.hard = scaled(hard_for_leak, limit);
            plan.soft = scaled(soft_for_leak, limit);
            plan.soft_grace = std::chrono::seconds(2);
            plan.pod_grace = std::chrono::seconds(3);
            plan.growth = scaled(leak_per_second, limit).value;
            plan.headline = actor + " leaks slowly, and shuts down when it is asked to";
            break;
        case Scenario::pagecache:
            plan.files = {limit.value + limit.value / 4};
            plan.headline = actor + " writes and reads files until the pods' cgroup is full of page cache";
            break;
        case Scenario::sockets:
            plan.hard = scaled(hard_for_leak, limit);
            plan.soft = scaled(soft_for_leak, limit);
            plan.soft_grace = grace_for_sockets;
            plan.growth = scaled(leak_per_second, limit).value;
            plan.neighbour = neighbour_row;
            plan.headline = actor + " opens connections without end, each takes memory, and " +
                            plan.pods[neighbour_row].full_name() + " opens some as ever";
            break;
        case Scenario::oomrace:
            break;  // has pods of its own: oomrace_plan()
        case Scenario::thrash:
            plan.hard = scaled(hard_for_thrash, limit);
            plan.files = scaled(thrash_files, limit);
            plan.stall = thrash_stall;
            plan.headline = actor + " reads the same files again and again, and they do not fit into what is left";
            break;
    }
    return plan;
}

std::string pod_cgroup(const PodPlan& pod) {
    const std::string_view qos = pod.qos == QosClass::burstable     ? "/burstable"
                                 : pod.qos == QosClass::best_effort ? "/besteffort"
                                                                    : "";
    return std::string(pods_root) + std::string(qos) + "/pod" + pod.uid;
}

std::string container_cgroup(const PodPlan& pod) { return pod_cgroup(pod) + "/app"; }

const char* what_now(Scenario scenario) {
    switch (scenario) {
        case Scenario::spike:
            return "it grows";
        case Scenario::leak:
            return "it grows: first the soft threshold, then its grace period, then SIGTERM";
        case Scenario::sockets:
            return "it opens connections: first the soft threshold, then no new sockets, until memory is back";
        case Scenario::oomrace:
            return "it grows, and no eviction comes in time: which pod does the kernel take?";
        case Scenario::thrash:
            return "files are read again and again; bytes are free, and every task waits";
        case Scenario::pagecache:
            break;
    }
    return "files are written and read; the cache grows, the need does not";
}

}  // namespace evictd::demo

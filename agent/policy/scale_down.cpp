// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Follows ActivePodsWithRanks and getPodsRankedByRelatedPodsOnSameNode of pkg/controller. That rule can run in circles:
// equal times are passed over, while different ones of the same age, roughly, are decided by uid. So everything is
// sorted by uid first, and then by a merge sort that needs no more than an answer for each pair.
#include "scale_down.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace evictd::policy {
namespace {

// afterOrZero and logarithmicRankDiff want of a time: whether it is there, and how long ago it was, roughly.
struct Moment {
    std::optional<WallTime> time;
    std::int64_t age = -1;  // the power of two in nanoseconds; -1: not yet
};

// What is compared of a pod, in this order: next to each other, for the sort's sake.
struct Candidate {
    std::uint64_t stage = 0;
    std::uint32_t doubled_up = 0;
    Moment ready;                                    // of a ready pod
    std::pair<std::int32_t, std::int32_t> restarts;  // of containers, then of sidecars
    Moment created;
    std::uint32_t by_uid = 0;
};

// Equal at zero, like a comparison. Every rule: negative, the first goes first.
template <class T>
int less_first(const T& a, const T& b) {
    return a < b ? -1 : b < a ? 1 : 0;
}
template <class T>
int more_first(const T& a, const T& b) {
    return less_first(b, a);
}

// podPhaseToOrdinal, which does not know the ended phases: they count like the first.
std::uint64_t ordinal(PodPhase phase) { return phase == PodPhase::running ? 2 : phase == PodPhase::unknown ? 1 : 0; }

// The rules from "unassigned before assigned" to "lower deletion cost first", from the highest bit to the lowest.
std::uint64_t stage_of(const Pod& pod) {
    const std::uint64_t assigned = pod.node_name.empty() ? 0 : 1;
    const std::uint64_t ready = pod.ready ? 1 : 0;
    const std::uint64_t cost = static_cast<std::uint32_t>(pod.deletion_cost) ^ 0x8000'0000U;  // signed to unsigned
    return assigned << 35 | ordinal(pod.phase) << 33 | ready << 32 | cost;
}

// math.Log2 of a difference that stays within 64 bits, cut off towards zero.
std::int64_t age_of(WallTime time, WallTime now) {
    std::int64_t age = 0;
    if (__builtin_sub_overflow(now.time_since_epoch().count(), time.time_since_epoch().count(), &age)) {
        age = time < now ? std::numeric_limits<std::int64_t>::max() : 0;
    }
    if (age <= 0) return -1;
    int exponent = 0;
    const double fraction = std::frexp(static_cast<double>(age), &exponent);
    if (fraction == 0.5) return exponent - 1;
    return static_cast<std::int64_t>(std::log(fraction) * std::numbers::log2e + exponent);
}

Moment moment_of(const std::optional<WallTime>& time, WallTime now) {
    return {time, time && now != WallTime{} ? age_of(*time, now) : -1};
}

// Which goes first, and by which rule. 0: equal by every rule.
struct Compared {
    int order = 0;
    ScaleDownRule rule = ScaleDownRule::uid;
};

Compared newer_first(const Moment& a, const Moment& b, int by_uid, ScaleDownRule rule, WallTime now) {
    if (a.time == b.time) return {};
    if (!a.time || !b.time) return {a.time ? 1 : -1, rule};
    if (now == WallTime{}) return {more_first(*a.time, *b.time), rule};
    return a.age != b.age ? Compared{less_first(a.age, b.age), rule} : Compared{by_uid, ScaleDownRule::uid};
}

// ActivePodsWithRanks.Less.
Compared compare(const Candidate& a, const Candidate& b, WallTime now) {
    if (const int order = less_first(a.stage, b.stage)) return {order, ScaleDownRule::stage};
    if (const int order = more_first(a.doubled_up, b.doubled_up)) return {order, ScaleDownRule::doubled_up};
    const int by_uid = less_first(a.by_uid, b.by_uid);
    const auto by_ready_time = newer_first(a.ready, b.ready, by_uid, ScaleDownRule::ready_time, now);
    if (by_ready_time.order != 0) return by_ready_time;
    if (const int order = more_first(a.restarts, b.restarts)) return {order, ScaleDownRule::restarts};
    return newer_first(a.created, b.created, by_uid, ScaleDownRule::creation_time, now);
}

// `by_uid`: its place among the pods compared.
Candidate candidate(const Pod& pod, std::uint32_t doubled_up, std::uint32_t by_uid, WallTime now) {
    return {.stage = stage_of(pod),
            .doubled_up = doubled_up,
            .ready = pod.ready ? moment_of(pod.ready_time, now) : Moment{},
            .restarts = {pod.restarts, pod.sidecar_restarts},
            .created = moment_of(pod.creation_time, now),
            .by_uid = by_uid};
}

// Stable, and defined for any answers at all: std::stable_sort is not.
void merge_sort(std::vector<std::uint32_t>& order, const auto& goes_before) {
    std::vector<std::uint32_t> merged(order.size());
    for (std::size_t width = 1; width < order.size(); width *= 2) {
        for (std::size_t begin = 0; begin < order.size(); begin += 2 * width) {
            const std::size_t middle = std::min(begin + width, order.size());
            const std::size_t end = std::min(middle + width, order.size());
            std::size_t left = begin;
            std::size_t right = middle;
            for (std::size_t i = begin; i < end; ++i) {
                const bool from_right = left == middle || (right < end && goes_before(order[right], order[left]));
                merged[i] = order[from_right ? right++ : left++];
            }
        }
        order.swap(merged);
    }
}

// metav1.GetControllerOf.
std::string_view controller_of(const Pod& pod) {
    const auto owner = std::find_if(pod.owners.begin(), pod.owners.end(),
                                    [](const OwnerReference& candidate) { return candidate.controller; });
    return owner == pod.owners.end() ? std::string_view{} : std::string_view(owner->uid);
}

// For each pod the active ones of the same controller on the same node, itself included.
std::vector<std::uint32_t> count_doubled_up(const std::vector<const Pod*>& all) {
    struct Member {
        std::string_view controller;
        std::string_view node;
        std::uint32_t pod = 0;
        [[nodiscard]] auto group() const { return std::tie(controller, node); }
    };
    std::vector<Member> members;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i] == nullptr) continue;
        const std::string_view controller = controller_of(*all[i]);
        if (!controller.empty()) members.push_back({controller, all[i]->node_name, static_cast<std::uint32_t>(i)});
    }
    std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.group() < b.group(); });
    std::vector<std::uint32_t> counts(all.size());
    for (auto begin = members.begin(); begin != members.end();) {
        const auto end =
            std::find_if(begin, members.end(), [&](const Member& member) { return member.group() != begin->group(); });
        const auto active =
            std::count_if(begin, end, [&](const Member& member) { return is_pod_active(*all[member.pod]); });
        for (; begin != end; ++begin) counts[begin->pod] = static_cast<std::uint32_t>(active);
    }
    return counts;
}

// Each after the one before it, as the agent's pods come: then a position says all that a uid would.
bool come_by_uid(const std::vector<const Pod*>& all) {
    const auto breaks = [](const Pod* one, const Pod* next) { return !one || !next || one->uid >= next->uid; };
    return std::adjacent_find(all.begin(), all.end(), breaks) == all.end();
}

}  // namespace

std::vector<std::uint32_t> uid_order(std::span<const Pod* const> pods) {
    struct Named {
        std::uint64_t beginning = 0;  // of the uid: nearly always enough
        const Pod* pod = nullptr;
        std::uint32_t position = 0;
    };
    std::vector<Named> named;
    named.reserve(pods.size());
    for (const Pod* pod : pods) {
        std::uint64_t beginning = 0;
        for (std::size_t i = 0; i < 8; ++i) {
            const auto& uid = pod->uid.value;
            beginning = beginning << 8 | (i < uid.size() ? static_cast<unsigned char>(uid[i]) : 0U);
        }
        named.push_back({beginning, pod, static_cast<std::uint32_t>(named.size())});
    }
    const auto before = [](const Named& a, const Named& b) {
        if (a.beginning != b.beginning) return a.beginning < b.beginning;
        return std::tie(a.pod->uid, a.pod->name_space, a.pod->name) <
               std::tie(b.pod->uid, b.pod->name_space, b.pod->name);
    };
    // The agent's pods come in this order.
    if (!std::is_sorted(named.begin(), named.end(), before)) std::sort(named.begin(), named.end(), before);
    std::vector<std::uint32_t> order;
    order.reserve(named.size());
    for (const auto& one : named) order.push_back(one.position);
    return order;
}

ScaleDown::ScaleDown(std::vector<const Pod*> all, WallTime now)
    : all_(std::move(all)), doubled_up_(count_doubled_up(all_)), come_by_uid_(come_by_uid(all_)), now_(now) {}

std::vector<std::uint32_t> ScaleDown::order_by_uid(std::span<const std::uint32_t> asked,
                                                   std::span<const Pod* const> pods) const {
    if (!come_by_uid_) return uid_order(pods);
    std::vector<std::uint32_t> order(asked.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return asked[a] < asked[b]; });
    return order;
}

std::vector<std::uint32_t> ScaleDown::order(std::span<const std::uint32_t> asked) const {
    std::vector<const Pod*> pods;
    pods.reserve(asked.size());
    for (const std::uint32_t position : asked) pods.push_back(all_[position]);
    std::vector<std::uint32_t> order = order_by_uid(asked, pods);
    std::vector<Candidate> candidates(asked.size());
    for (std::uint32_t place = 0; place < order.size(); ++place) {
        const auto one = order[place];
        candidates[one] = candidate(*pods[one], doubled_up_[asked[one]], place, now_);
    }
    // Equal by every rule is an equivalence, though going before is no order.
    const auto like_the_first = [&](const Candidate& one) { return compare(candidates.front(), one, now_).order == 0; };
    if (std::all_of(candidates.begin(), candidates.end(), like_the_first)) return order;
    merge_sort(order,
               [&](std::uint32_t a, std::uint32_t b) { return compare(candidates[a], candidates[b], now_).order < 0; });
    return order;
}

void ScaleDown::prefetch(std::uint32_t asked) const {
    const Pod& pod = *all_[asked];
    __builtin_prefetch(&pod.phase);
    __builtin_prefetch(&pod.creation_time);
    __builtin_prefetch(&pod.node_name);
}

std::vector<ScaleDownStep> ScaleDown::steps(std::span<const std::uint32_t> ordered) const {
    std::vector<ScaleDownStep> steps;
    for (std::size_t i = 1; i < ordered.size(); ++i) {
        const std::array doubled{doubled_up_[ordered[i - 1]], doubled_up_[ordered[i]]};
        // Whichever has the smaller uid: the rule is the same.
        const auto first = candidate(*all_[ordered[i - 1]], doubled[0], 0, now_);
        const auto next = candidate(*all_[ordered[i]], doubled[1], 1, now_);
        steps.push_back({compare(first, next, now_).rule, doubled[0], doubled[1]});
    }
    return steps;
}

std::vector<std::uint32_t> scale_down_order(const std::vector<PodPtr>& all, std::vector<std::uint32_t> asked,
                                            WallTime now) {
    std::vector<const Pod*> pods;
    pods.reserve(all.size());
    for (const auto& pod : all) pods.push_back(pod.get());
    const auto order = ScaleDown(std::move(pods), now).order(asked);
    std::vector<std::uint32_t> ordered;
    ordered.reserve(order.size());
    for (const std::uint32_t place : order) ordered.push_back(asked[place]);
    return ordered;
}

}  // namespace evictd::policy

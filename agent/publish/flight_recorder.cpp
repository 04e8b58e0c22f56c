// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/flight_recorder.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "codec/event.hpp"
#include "codec/event_id.hpp"
#include "publish/history_samples.hpp"

namespace evictd::publish {
namespace {

using namespace std::chrono_literals;

constexpr Duration recorded = 30s;
constexpr Duration recording_kept =
    recorded + 2s;  // as the kernel's ring: an end some looks late still has its beginning
// The kernel's step: looks that follow each other sooner share an entry, the least counts.
constexpr Duration between_looks = 100ms;
// Eleven in the window. With 10,000 pods they take 3 MiB; one a second would say no more of half a minute.
constexpr Duration between_footprints = 3s;
// What fits a screen, and an event of 4 KiB.
constexpr std::size_t growers_told = 5;
constexpr std::size_t places_told = 8;
// Kills that follow each other sooner have the same half minute behind them: it is recorded once, and the others refer
// to it. A cgroup in which the kernel kills one process after the other must not fill the log.
constexpr Duration between_ooms = 1s;

std::optional<Bytes> available(const Observation& observation, Signal signal) {
    const auto& reading = observation.readings[static_cast<std::size_t>(signal)];
    return reading ? std::optional(Bytes{reading->available.value}) : std::nullopt;
}

std::optional<Bytes> least(std::optional<Bytes> a, std::optional<Bytes> b) {
    return a && b ? std::min(*a, *b) : a ? a : b;
}

// What is newer than the last of `into`.
void append(std::vector<MemorySample>& into, const auto& samples) {
    const auto last = into.empty() ? MonotonicTime{} : into.back().at;
    for (const auto& sample : samples) {
        if (sample.at > last) into.push_back(sample);
    }
}

// The kernel's time of the crossing, where it reported one; a soft threshold was crossed when its grace period began.
WallTime crossed_at(const Tick& tick, const MetThreshold& met) {
    const auto& observation = tick.observation;
    if (met.threshold.hard() && observation.cause.event) {
        const auto* crossed = std::get_if<WatermarkCrossed>(&observation.cause.event->kind);
        if (crossed != nullptr && crossed->signal == met.threshold.signal) {
            return codec::wall_time(observation, observation.cause.event->time);
        }
    }
    return codec::wall_time(observation, met.first_observed_at);
}

bool has_something(const Tick& tick) {
    const auto is_oom = [](const KernelEvent& event) { return std::holds_alternative<OomKill>(event.kind); };
    return tick.decision.evict || !tick.decision.finished.empty() ||
           std::any_of(tick.kernel_events.begin(), tick.kernel_events.end(), is_oom);
}

}  // namespace

RecordPtr FlightRecorder::complete(const RecordPtr& record) {
    const auto* tick = std::get_if<Tick>(record.get());
    if (tick == nullptr) return record;
    note(tick->observation);
    std::vector<HistoryPtr> histories;
    if (has_something(*tick)) {
        oom_kills(*tick, histories);
        if (tick->decision.evict) evicting(*tick, histories);
        for (const auto& victim : tick->decision.finished) evicted(*tick, victim, histories);
    }
    // A rehearsed victim never ends: it is not waited for.
    std::erase_if(begun_, [&](const auto& entry) {
        const auto& flying = tick->decision.in_flight;
        return std::none_of(flying.begin(), flying.end(), [&](const Victim& victim) {
            return codec::eviction_id(victim.pod, victim.cause) == entry.first;
        });
    });
    if (histories.empty()) return record;
    Tick whole = *tick;
    whole.histories = std::move(histories);
    return std::make_shared<const Record>(std::move(whole));
}

void FlightRecorder::note(const Observation& observation) {
    const auto at = observation.at;
    const auto node = available(observation, Signal::memory_available);
    const auto pods = available(observation, Signal::allocatable_memory_available);
    if (!looks_.empty() && at - looks_.back().at < between_looks) {
        auto& last = looks_.back();
        last.node = least(last.node, node);
        last.pods = least(last.pods, pods);
    } else {
        looks_.push_back({at, node, pods});
    }
    while (at - looks_.front().at > recording_kept) looks_.pop_front();
    while (!footprints_.empty() && at - footprints_.front().at > recording_kept) footprints_.pop_front();
    if (!footprints_.empty() && at - footprints_.back().at < between_footprints) return;
    auto& print = footprints_.emplace_back();
    print.at = at;
    for (const auto& pod : observation.pods) {
        if (pod.usage) print.pods.emplace_back(pod.pod, pod.usage->working_set);
    }
}

FlightRecorder::Begun FlightRecorder::begin(const Tick& tick, std::string id, Signal signal) const {
    const auto& observation = tick.observation;
    Begun begun;
    begun.from = observation.at - recorded;
    if (needs_.kernel_samples) begun.kernel = needs_.kernel_samples();
    append(begun.looks, looks_);
    auto& history = begun.history;
    history.id = std::move(id);
    history.signal = signal;
    history.start = codec::wall_time(observation, begun.from);
    add_lines(observation, history);
    add_growth(observation, history);
    const auto& ranking = tick.decision.ranking;
    history.pods = static_cast<std::int64_t>(ranking.size());
    for (std::size_t i = 0; i < std::min(places_told, ranking.size()); ++i) {
        history.order.push_back(place_of(ranking[i], signal, observation));
    }
    return begun;
}

History::Place FlightRecorder::place_of(const RankedPod& ranked, Signal signal, const Observation& observation) const {
    return {.pod = observation.pods[ranked.pod].pod->full_name(),
            .qos = ranked.qos,
            .priority = ranked.priority,
            .usage = ranked.usage.value,
            .request = ranked.request.value,
            .exempt = ranked.exemption != Exemption::none,
            .why = needs_.place(signal, ranked, observation)};
}

void FlightRecorder::sample(Begun& begun, MonotonicTime to) const {
    auto even = even_samples(begun.kernel, begun.looks, begun.history.signal, begun.from, to);
    begun.history.step = even.step;
    begun.history.available = std::move(even.values);
}

void FlightRecorder::evicting(const Tick& tick, std::vector<HistoryPtr>& histories) {
    const auto& eviction = *tick.decision.evict;
    auto begun =
        begin(tick, codec::eviction_id(eviction.pod, tick.observation.cause), eviction.threshold.threshold.signal);
    auto& history = begun.history;
    history.why = tick.decision.why;
    history.crossed = crossed_at(tick, eviction.threshold);
    for (const auto& outcome : tick.outcomes) {
        if (outcome.action.pod != eviction.pod || outcome.status != OutcomeStatus::delivered) continue;
        const auto at = codec::wall_time(tick.observation, outcome.delivered_at);
        (outcome.action.kind == ActionKind::kill ? history.killed : history.asked) = at;
    }
    sample(begun, tick.observation.at);
    histories.push_back(std::make_shared<const History>(history));
    begun_.insert_or_assign(history.id, std::move(begun));
}

// The history extends to the exit of the last process.
void FlightRecorder::evicted(const Tick& tick, const Victim& victim, std::vector<HistoryPtr>& histories) {
    const auto found = begun_.find(codec::eviction_id(victim.pod, victim.cause));
    if (found == begun_.end()) return;
    auto& begun = found->second;
    if (needs_.kernel_samples) append(begun.kernel, needs_.kernel_samples());
    append(begun.looks, looks_);
    const auto& observation = tick.observation;
    if (victim.killed_at != MonotonicTime{}) begun.history.killed = codec::wall_time(observation, victim.killed_at);
    if (victim.emptied_at != MonotonicTime{} && !victim.failed) {
        begun.history.emptied = codec::wall_time(observation, victim.emptied_at);
    }
    sample(begun, observation.at);
    histories.push_back(std::make_shared<const History>(std::move(begun.history)));
    begun_.erase(found);
}

void FlightRecorder::oom_kills(const Tick& tick, std::vector<HistoryPtr>& histories) {
    for (const auto& event : tick.kernel_events) {
        const auto* kill = std::get_if<OomKill>(&event.kind);
        if (kill == nullptr) continue;
        auto id = codec::oom_id(*kill, event.time);
        if (!last_oom_.empty() && event.time - last_oom_at_ < between_ooms) {
            History other;
            other.id = std::move(id);
            other.same_as = last_oom_;
            histories.push_back(std::make_shared<const History>(std::move(other)));
            continue;
        }
        const bool pods = kill->memcg && available(tick.observation, Signal::allocatable_memory_available).has_value();
        auto begun = begin(tick, id, pods ? Signal::allocatable_memory_available : Signal::memory_available);
        begun.history.killed = codec::wall_time(tick.observation, event.time);
        sample(begun, tick.observation.at);
        histories.push_back(std::make_shared<const History>(std::move(begun.history)));
        last_oom_ = std::move(id);
        last_oom_at_ = event.time;
    }
}

void FlightRecorder::add_lines(const Observation& observation, History& history) const {
    const auto& reading = observation.readings[static_cast<std::size_t>(history.signal)];
    if (!reading) return;
    const auto document = needs_.board.document();
    for (const auto& threshold : document->agent->eviction.thresholds) {
        if (threshold.signal != history.signal) continue;
        history.lines.push_back({threshold.hard(), {quantity_of(threshold.value, reading->capacity).value}});
    }
}

// Against the pod's oldest footprint of the window. One that has none is so new that it has grown from nothing.
void FlightRecorder::add_growth(const Observation& observation, History& history) const {
    if (footprints_.empty() || footprints_.front().at >= observation.at) return;
    history.grown_over = observation.at - footprints_.front().at;
    std::unordered_map<std::string_view, Bytes> used;
    for (const auto& print : footprints_) {
        if (print.at >= observation.at) break;                                            // of this very look
        for (const auto& [pod, usage] : print.pods) used.emplace(pod->uid.value, usage);  // the oldest stays
    }
    for (const auto& pod : observation.pods) {
        if (!pod.usage) continue;
        const auto then = used.find(pod.pod->uid.value);
        const auto usage = pod.usage->working_set;
        const auto grew = usage - (then == used.end() ? Bytes{} : then->second);
        if (grew > Bytes{}) history.growth.push_back({pod.pod->full_name(), grew, usage});
    }
    const auto told = std::min(growers_told, history.growth.size());
    std::partial_sort(history.growth.begin(), history.growth.begin() + static_cast<std::ptrdiff_t>(told),
                      history.growth.end(), [](const auto& a, const auto& b) { return a.grew > b.grew; });
    history.growth.resize(told);
}

}  // namespace evictd::publish

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/observer.hpp"

#include <algorithm>
#include <iterator>
#include <variant>

#include "observe/observed_pods.hpp"
#include "observe/unknown_pods.hpp"

namespace evictd::observe {
namespace {

// Unless pods are ranked by processes, the counts are only displayed; near a threshold there are a hundred looks a
// second.
constexpr Duration count_processes_every = std::chrono::seconds(1);

Reading& reading_of(Readings& readings, Signal signal, Reading reading) {
    return readings[static_cast<std::size_t>(signal)].emplace(reading);
}

// A threshold was crossed, or a cgroup came to be empty or in use, as the last victim's does: an eviction may hang on
// this look. Stalls come again and again.
bool is_urgent(const Cause& cause) {
    return cause.event && (std::holds_alternative<WatermarkCrossed>(cause.event->kind) ||
                           std::holds_alternative<CgroupLife>(cause.event->kind));
}

// A look at a crossing keeps rows of a rehearsal right before it, of cgroups whose usage has not changed since, unless
// pages moved between the kernel's lists. What they charged out of their per-CPU stock meanwhile is missed, for no
// longer than this.
constexpr Duration rows_stay_fresh = std::chrono::milliseconds(20);

}  // namespace

Observer::Observer(port::UsageSource& usage, port::NodeMemory& node, const sys::Clock& clock, port::Stalls* stalls)
    : usage_(usage), node_(usage, node), clock_(clock), stalls_(stalls), check_(usage) {}

void Observer::read_node(Observation& observation, const NodeNeed& need, bool urgent) {
    const auto at = clock_.monotonic();
    const auto read = node_.read(urgent, need, at);
    if (!read) {
        trouble_ = read.error().text();
        return;
    }
    node_total_ = read->total;
    reading_of(observation.readings, Signal::memory_available,
               {.available = {read->available.value},
                .capacity = {read->total.value},
                .at = at,
                .memory = AvailableMemory{.kubelet = read->available, .reclaimable = read->reclaimable}});
}

port::Pass Observer::pass_for(const Cause& cause) {
    const auto now = clock_.monotonic();
    const bool is_due =
        !is_urgent(cause) && (!processes_counted_at_ || now - *processes_counted_at_ >= count_processes_every);
    if (ranked_by_processes_ || is_due) {
        processes_counted_at_ = now;
        return port::Pass::with_processes;
    }
    const bool crossing = cause.event && std::holds_alternative<WatermarkCrossed>(cause.event->kind);
    const bool fresh = rehearsed_at_ && now - *rehearsed_at_ <= rows_stay_fresh;
    return crossing && fresh ? port::Pass::changed_rows : port::Pass::all_rows;
}

void Observer::read_pods(Observation& observation, const PodTable& table, LookFor purpose) {
    const auto read = read_rows(observation, table, purpose);
    const bool unknown = !read && read.error().kind != ErrorKind::vanished;
    rows_known_ = !unknown;
    if (!read) {
        rows_.clear();
        trouble_ = unknown ? read.error().text() : trouble_;
    }
    observation.pods = observed_pods(rows_, table);
    observation.unknown_pods = unknown_pods(rows_, table, clock_.monotonic());
    observation.usage_unknown = unknown;
    for (auto& pod : observation.pods) {
        pod.populated = pod.populated || (unknown && pod.cgroup != CgroupId{});  // not seen is not gone
    }
}

// The page cache of a pod that is counted as a whole is up to 2 s old: whatever the cause of a look, no pod is evicted
// for it, nor ranked by it. The controller's figures make the kernel add it up; the rows are read again behind that.
Status Observer::read_rows(Observation& observation, const PodTable& table, LookFor purpose) {
    const auto at = clock_.monotonic();
    const auto pass = pass_for(observation.cause);
    auto read = usage_.read(rows_, pass);
    rehearsed_at_ = read && purpose == LookFor::rehearsal ? std::optional(at) : std::nullopt;
    counts_whole_ = read && std::any_of(rows_.begin(), rows_.end(), [](const auto& row) { return row.whole; });
    if (!read) {
        return read;
    }
    const bool read_again = counts_whole_ && purpose == LookFor::decision;
    const Bytes uncounted = read_again ? usage_.uncounted_cache() : Bytes{0};
    const auto counted = counted_cache(rows_, at);
    auto cache = std::optional(counted);
    if (pass != port::Pass::changed_rows || read_again) {  // kept and new rows were read at different times
        cache = check_.settle(counted, read_again);
    }
    if (!cache || cache->inactive_file != counted.inactive_file || !check_.trouble().empty()) {
        rehearsed_at_.reset();  // rows that are in doubt are not kept
    }
    if (read_again) {
        const Bytes usage_before = rows_.front().usage;
        read = usage_.read(rows_, port::Pass::all_rows);
        if (!read) {
            return read;
        }
        auto& usage = rows_.front().usage;
        usage = std::min(usage, usage_before);  // what came after the count is in no count
        if (cache) {
            add_late_cache(*cache, late_cache(*cache, usage, uncounted));
        }
    }
    if (cache) {
        reading_of(observation.readings, Signal::allocatable_memory_available,
                   allocatable_reading(rows_.front(), *cache, node_total_));
    }
    trouble_ = check_.trouble();
    if (counts_whole_) {
        trouble_ += (trouble_.empty() ? "" : "; ") + crowded_pods(table);
    }
    return read;
}

// It may belong to any pod that is counted as a whole: no pod is evicted or ranked for what may be page cache.
void Observer::add_late_cache(port::RootCount& cache, Bytes late) {
    cache.inactive_file += late;
    for (auto& row : rows_) {
        if (row.whole) {
            row.inactive_file += std::min(late, std::max(Bytes{0}, row.usage - row.inactive_file));
        }
    }
}

// Whose cgroups are too many to be read one by one, for people.
std::string Observer::crowded_pods(const PodTable& table) const {
    std::string names;
    for (const auto& row : rows_) {
        if (!row.whole) {
            continue;
        }
        const auto uid = owner_of(row.id, table);
        const auto pod = uid ? table.pod(*uid) : nullptr;
        const std::string name = pod ? pod->name_space + "/" + pod->name : "cgroup " + std::to_string(row.id.value);
        names += (names.empty() ? "" : ", ") + name;
    }
    return "too many cgroups below " + names + "; counted as a whole";
}

std::vector<UnknownPod> Observer::unknown(const PodTable& table, std::size_t most) const {
    return oldest_unknown_pods(rows_, table, most);
}

std::vector<LeftCgroup> Observer::left(const PodTable& table,
                                       const std::function<bool(const PodUid&)>& is_wanted) const {
    return left_cgroups(rows_, table, is_wanted);
}

std::optional<FoundCgroup> Observer::found(CgroupId cgroup) const {
    if (!rows_known_) {
        return std::nullopt;
    }
    const auto is_it = [&](const port::CgroupUsage& row) { return row.id == cgroup; };
    auto row = std::find_if(rows_.begin(), rows_.end(), is_it);
    if (row == rows_.end()) {
        return FoundCgroup{};
    }
    FoundCgroup found{.populated = row->populated, .usage = row->usage, .working_set = row->usage - row->inactive_file};
    for (auto below = std::next(row); below != rows_.end() && below->level > row->level; ++below) {
        found.working_set = found.working_set - below->inactive_file;
    }
    found.working_set = std::max(Bytes{0}, found.working_set);
    return found;
}

std::vector<ObservedVictim> Observer::victims(std::span<const Followed> followed) const {
    std::vector<ObservedVictim> victims;
    victims.reserve(followed.size());
    for (const auto& one : followed) {
        victims.push_back(observed_victim(one, rows_));
    }
    return victims;
}

std::optional<HeldMemory> Observer::held_by(const Followed& victim) const { return observe::held_by(victim, rows_); }

std::optional<PodUid> Observer::owner_of(CgroupId cgroup, const PodTable& table) const {
    std::optional<PodUid> owner;
    std::int32_t level = 0;
    for (const auto& row : rows_) {
        if (auto uid = table.uid_of(row.id)) {
            owner = std::move(uid);
            level = row.level;
        } else if (row.level <= level) {
            owner.reset();
        }
        if (row.id == cgroup) {
            return owner;
        }
    }
    return std::nullopt;
}

void Observer::read_stalls(Observation& observation, const PodTable& table) {
    if (stalls_ == nullptr) {
        return;
    }
    stalls_->read(clock_.monotonic(), observation.stalls);
    if (!stalls_->wants_pods()) {
        return;
    }
    std::vector<port::StalledPod> pods;
    pods.reserve(observation.pods.size());
    for (std::size_t i = 0; i < observation.pods.size(); i++) {  // as observed_pods() made them
        if (const auto& cgroup = table.rows()[i].cgroup) {
            pods.push_back({*cgroup, observation.pods[i].stall});
        }
    }
    stalls_->read_pods(is_urgent(observation.cause), pods);
}

Observation Observer::look(Cause cause, const PodTable& table, std::vector<Outcome> outcomes, const NodeNeed& node,
                           LookFor purpose) {
    Observation observation;
    observation.cause = std::move(cause);
    observation.outcomes = std::move(outcomes);
    trouble_.clear();
    const bool is_first = node_total_ == Bytes{0};
    if (is_first) {
        read_node(observation, node, false);  // the pods' limit, where they have none of their own
    }
    read_pods(observation, table, purpose);
    // Last: a victim found gone must not still be in what is said to be used, or a second pod would pay for it.
    read_node(observation, node, !is_first && is_urgent(observation.cause));
    read_stalls(observation, table);
    observation.incomplete = !trouble_.empty();
    observation.at = clock_.monotonic();
    observation.wall = clock_.wall();
    return observation;
}

}  // namespace evictd::observe

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/pod_table.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace evictd::observe {
namespace {

bool is_older(const UnknownPod& a, const UnknownPod& b) {
    return std::tie(a.first_seen, a.pod) < std::tie(b.first_seen, b.pod);
}

}  // namespace

void PodTable::set_pods(std::size_t source, std::vector<PodPtr> pods) {
    if (sources_.size() <= source) {
        sources_.resize(source + 1);
    }
    sources_[source] = std::move(pods);
    join();
}

void PodTable::set_cgroups(std::vector<port::FoundPod> found, MonotonicTime now) {
    std::unordered_map<PodUid, Held> held;
    uid_of_.clear();
    for (auto& pod : found) {
        // The same cgroup keeps its handle and what is known of it.
        const auto before = held_.find(pod.uid);
        const bool same = before != held_.end() && before->second.cgroup->id() == pod.cgroup->id();
        uid_of_[pod.cgroup->id()] = pod.uid;
        held[pod.uid] = same ? before->second : Held{std::move(pod.cgroup), std::nullopt, now};
    }
    held_ = std::move(held);
    join();
}

void PodTable::add_cgroups(std::vector<port::FoundPod> found, MonotonicTime now) {
    for (auto& pod : found) {
        const auto before = held_.find(pod.uid);
        uid_of_[pod.cgroup->id()] = pod.uid;
        if (before == held_.end() || before->second.cgroup->id() != pod.cgroup->id()) {
            held_[pod.uid] = Held{std::move(pod.cgroup), std::nullopt, now};
        }
    }
    join();
}

void PodTable::apply(const CgroupLife& life, MonotonicTime time, const port::Cgroups& cgroups) {
    if (life.change == CgroupChange::made) {
        if (auto found = cgroups.pod_at(life.path)) {
            hold(std::move(*found), time);
        }
        return;
    }
    const auto known = uid_of_.find(life.cgroup);
    if (known == uid_of_.end()) {
        return;  // a container's, or none of ours
    }
    const PodUid uid = known->second;
    const auto held = held_.find(uid);
    const bool current = held != held_.end() && held->second.cgroup->id() == life.cgroup;
    if (life.change == CgroupChange::removed) {
        if (current) {
            held_.erase(held);
        }
        uid_of_.erase(known);
        std::erase_if(unknown_, [&](const UnknownPod& one) { return one.cgroup == life.cgroup; });
    } else if (current && life.change == CgroupChange::emptied) {
        held->second.emptied_at = time;
    }
    join(uid);
}

// Its making may be told of one that was listed before: that does not make it younger.
void PodTable::hold(port::FoundPod found, MonotonicTime now) {
    const auto id = found.cgroup->id();
    auto& held = held_[found.uid];
    const bool same = held.cgroup && held.cgroup->id() == id;
    if (held.cgroup) {
        std::erase_if(unknown_, [&](const UnknownPod& one) { return one.pod == found.uid; });
    }
    held = Held{std::move(found.cgroup), std::nullopt, same ? held.first_seen : now};
    uid_of_[id] = found.uid;
    if (!pod(found.uid)) {
        UnknownPod one{.pod = found.uid, .cgroup = id, .first_seen = held.first_seen, .working_set = {}};
        unknown_.insert(std::upper_bound(unknown_.begin(), unknown_.end(), one, is_older), std::move(one));
    }
    join(found.uid);
}

// For all pods, and only when there are others: a look finds everything in place.
void PodTable::join() {
    rows_.clear();
    for (const auto& pods : sources_) {
        for (const auto& pod : pods) {
            rows_.push_back(Row{pod, nullptr, std::nullopt});
        }
    }
    const auto by_uid = [](const Row& a, const Row& b) { return a.pod->uid < b.pod->uid; };
    const auto same_uid = [](const Row& a, const Row& b) { return a.pod->uid == b.pod->uid; };
    std::stable_sort(rows_.begin(), rows_.end(), by_uid);
    rows_.erase(std::unique(rows_.begin(), rows_.end(), same_uid), rows_.end());
    for (auto& row : rows_) {
        fill(row);
    }
    unknown_.clear();
    const auto known = std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.cgroup != nullptr; });
    if (held_.size() == static_cast<std::size_t>(known)) {
        return;  // the rule
    }
    for (const auto& [uid, held] : held_) {
        if (!pod(uid)) {
            unknown_.push_back(
                {.pod = uid, .cgroup = held.cgroup->id(), .first_seen = held.first_seen, .working_set = {}});
        }
    }
    std::sort(unknown_.begin(), unknown_.end(), is_older);
}

// For one: 10,000 pods that start are 10,000 events.
void PodTable::join(const PodUid& uid) {
    const auto before = [](const Row& row, const PodUid& wanted) { return row.pod->uid < wanted; };
    const auto row = std::lower_bound(rows_.begin(), rows_.end(), uid, before);
    if (row != rows_.end() && row->pod->uid == uid) {
        fill(*row);
    }
}

void PodTable::fill(Row& row) const {
    const auto held = held_.find(row.pod->uid);
    row.cgroup = held == held_.end() ? nullptr : held->second.cgroup;
    row.emptied_at = held == held_.end() ? std::nullopt : held->second.emptied_at;
}

PodPtr PodTable::pod(const PodUid& uid) const {
    const auto before = [](const Row& row, const PodUid& wanted) { return row.pod->uid < wanted; };
    const auto row = std::lower_bound(rows_.begin(), rows_.end(), uid, before);
    return row != rows_.end() && row->pod->uid == uid ? row->pod : nullptr;
}

port::PodCgroupPtr PodTable::cgroup_of(const PodUid& uid) const {
    const auto held = held_.find(uid);
    return held == held_.end() ? nullptr : held->second.cgroup;
}

std::optional<PodUid> PodTable::uid_of(CgroupId cgroup) const {
    const auto uid = uid_of_.find(cgroup);
    return uid == uid_of_.end() ? std::nullopt : std::optional(uid->second);
}

}  // namespace evictd::observe

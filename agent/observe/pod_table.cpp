// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/pod_table.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace evictd::observe {
namespace {

bool is_older(const UnknownPod& a, const UnknownPod& b) {
    return std::tie(a.first_seen, a.pod) < std::tie(b.first_seen, b.pod);
}

bool comes_before(const PodTable::Row& a, const PodTable::Row& b) { return a.pod->uid < b.pod->uid; }

}  // namespace

// Asked once: nobody but root moves us, and before a pod is killed or the API server is asked to end it, its handle is
// asked again.
PodTable::Held PodTable::held(port::PodCgroupPtr cgroup, MonotonicTime first_seen,
                              std::optional<MonotonicTime> made_at) {
    const bool holds_us = cgroup->holds_us().value_or(false);
    return {std::move(cgroup), std::nullopt, first_seen, holds_us, made_at};
}

void PodTable::set_pods(std::size_t source, std::vector<PodPtr> pods, MonotonicTime now) {
    if (sources_.size() <= source) {
        sources_.resize(source + 1);
    }
    sources_[source] = std::move(pods);
    join(now);
}

void PodTable::set_cgroups(std::vector<port::FoundPod> found, MonotonicTime now) {
    std::unordered_map<PodUid, Held> held;
    uid_of_.clear();
    for (auto& pod : found) {
        // The same cgroup keeps its handle and what is known of it.
        const auto before = held_.find(pod.uid);
        const bool same = before != held_.end() && before->second.cgroup->id() == pod.cgroup->id();
        uid_of_[pod.cgroup->id()] = pod.uid;
        held[pod.uid] = same ? before->second : PodTable::held(std::move(pod.cgroup), now, listed_at_);
    }
    held_ = std::move(held);
    listed_at_ = now;
    join();
}

void PodTable::add_cgroups(std::vector<port::FoundPod> found, MonotonicTime now) {
    for (auto& pod : found) {
        const auto before = held_.find(pod.uid);
        uid_of_[pod.cgroup->id()] = pod.uid;
        if (before == held_.end() || before->second.cgroup->id() != pod.cgroup->id()) {
            held_[pod.uid] = held(std::move(pod.cgroup), now, std::nullopt);
        }
    }
    join();
}

void PodTable::apply(const CgroupLife& life, MonotonicTime time, const port::Cgroups& cgroups) {
    if (life.change == CgroupChange::made) {
        if (auto found = cgroups.pod_at(life.path, life.cgroup)) {
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
    held =
        PodTable::held(std::move(found.cgroup), same ? held.first_seen : now, same ? held.made_at : std::optional(now));
    uid_of_[id] = found.uid;
    if (!pod(found.uid)) {
        UnknownPod one{.pod = found.uid, .cgroup = id, .first_seen = held.first_seen, .working_set = {}};
        unknown_.insert(std::upper_bound(unknown_.begin(), unknown_.end(), one, is_older), std::move(one));
    }
    join(found.uid);
}

// For all pods, and only when there are others: a look finds everything in place. `now`: pods are listed that were not.
void PodTable::join(MonotonicTime now) {
    is_indexed_ = false;
    std::vector<Row> before;
    before.swap(rows_);
    rows_.reserve(before.size());
    for (const auto& pods : sources_) {
        for (const auto& pod : pods) {
            rows_.push_back(Row{.pod = pod, .cgroup = nullptr, .emptied_at = {}, .listed_at = now, .arrived_at = {}});
        }
    }
    const auto same_uid = [](const Row& a, const Row& b) { return a.pod->uid == b.pod->uid; };
    std::stable_sort(rows_.begin(), rows_.end(), comes_before);
    rows_.erase(std::unique(rows_.begin(), rows_.end(), same_uid), rows_.end());
    keep_departed(before);
    auto known = before.begin();
    for (auto& row : rows_) {
        while (known != before.end() && known->pod->uid < row.pod->uid) ++known;
        if (known != before.end() && known->pod->uid == row.pod->uid) row.listed_at = known->listed_at;
        fill(row);
    }
    unknown_.clear();
    const auto joined = std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.cgroup != nullptr; });
    if (held_.size() == static_cast<std::size_t>(joined)) {
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

// Absence from a source is no proof that the processes are gone: the kernel's word is.
void PodTable::keep_departed(const std::vector<Row>& before) {
    std::vector<Row> departed;
    std::set_difference(before.begin(), before.end(), rows_.begin(), rows_.end(), std::back_inserter(departed),
                        comes_before);
    std::erase_if(departed,
                  [&](const Row& row) { return row.pod->origin != PodOrigin::api || !held_.contains(row.pod->uid); });
    const auto middle = static_cast<std::ptrdiff_t>(rows_.size());
    for (auto& row : departed) {
        row.departed = true;
        rows_.push_back(std::move(row));
    }
    std::inplace_merge(rows_.begin(), rows_.begin() + middle, rows_.end(), comes_before);
}

// For one: 10,000 pods that start are 10,000 events.
void PodTable::join(const PodUid& uid) {
    const auto before = [](const Row& row, const PodUid& wanted) { return row.pod->uid < wanted; };
    const auto row = std::lower_bound(rows_.begin(), rows_.end(), uid, before);
    if (row == rows_.end() || row->pod->uid != uid) {
        return;
    }
    fill(*row);
    if (row->departed && !row->cgroup) {
        rows_.erase(row);
    }
}

void PodTable::fill(Row& row) {
    is_indexed_ = false;
    const auto held = held_.find(row.pod->uid);
    row.cgroup = held == held_.end() ? nullptr : held->second.cgroup;
    row.cgroup_id = row.cgroup ? row.cgroup->id() : CgroupId{};
    row.emptied_at = held == held_.end() ? std::nullopt : held->second.emptied_at;
    row.holds_us = held != held_.end() && held->second.holds_us;
    // A cgroup that is made again is not a pod that arrives.
    const auto made_at = held == held_.end() ? std::nullopt : held->second.made_at;
    row.arrived_at = made_at ? std::optional(std::min(*made_at, row.listed_at)) : std::nullopt;
}

void PodTable::index_rows() const {
    row_of_.clear();
    for (std::size_t i = 0; i < rows_.size(); i++) {
        if (rows_[i].cgroup) row_of_.emplace_back(rows_[i].cgroup_id, static_cast<std::uint32_t>(i));
    }
    std::sort(row_of_.begin(), row_of_.end());
    is_indexed_ = true;
}

std::optional<std::size_t> PodTable::row_of(CgroupId cgroup, std::size_t& near) const {
    if (!is_indexed_) index_rows();
    const auto is_before = [&](std::size_t i) { return row_of_[i].first < cgroup; };
    const auto begins_at = [&](std::size_t i) {  // the first that is not before it
        return i <= row_of_.size() && (i == 0 || is_before(i - 1)) && (i == row_of_.size() || !is_before(i));
    };
    auto at = near + 1;
    if (!begins_at(at)) at = near;
    if (!begins_at(at)) {
        const auto found = std::lower_bound(row_of_.begin(), row_of_.end(), std::pair(cgroup, std::uint32_t{0}));
        at = static_cast<std::size_t>(found - row_of_.begin());
    }
    if (at == row_of_.size() || row_of_[at].first != cgroup) return std::nullopt;
    near = at;
    return row_of_[at].second;
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

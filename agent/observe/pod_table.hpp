// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which pods are there, and which cgroup is whose: the sources' pods merged by uid, joined with the cgroups found. It
// looks at no usage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "evictd/model/kernel_event.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/port/cgroups.hpp"
#include "evictd/port/pod_source.hpp"

namespace evictd::observe {

class PodTable {
public:
    struct Row {
        PodPtr pod;
        port::PodCgroupPtr cgroup;                // null: none was found
        CgroupId cgroup_id{};                     // its id: a look at all pods need not go to each cgroup for it
        std::optional<MonotonicTime> emptied_at;  // when its last process went; others may have come since
        bool holds_us = false;                    // as of ObservedPod
        bool departed = false;                    // no source has it any more
        MonotonicTime listed_at;                  // by a source, for the first time without a break
        std::optional<MonotonicTime> arrived_at;  // as of ObservedPod
    };

    // Replaces what source number `source` said before. A uid known by several sources is the lowest number's. A pod of
    // the API server that no source has any more is departed: it is kept, as it was last known, until its cgroup is
    // removed. A pod that is deleted by force leaves the API server and the kubelet's list (podManager.DeletePod) at
    // once, while its processes may run: for a grace period that it chose itself (calculateEffectiveGracePeriod), or
    // for as long as the kubelet is away. One that the root of this node took out of a directory of manifests is not
    // kept: evictd is not to touch it any more. `now` left out: its pods are old.
    void set_pods(std::size_t source, std::vector<PodPtr> pods, MonotonicTime now = {});
    // What `source` delivered last are these same objects, by address: a Pod is never changed.
    [[nodiscard]] bool has_exactly(std::size_t source, const std::vector<PodPtr>& pods) const {
        return source < sources_.size() && sources_[source] == pods;
    }
    [[nodiscard]] bool has_pods_of(std::size_t source) const {
        return source < sources_.size() && !sources_[source].empty();
    }
    // Replaces all cgroups, after listing them at `now`.
    void set_cgroups(std::vector<port::FoundPod> found, MonotonicTime now);
    // After a listing at `now` that may lack some: those that are not in it stay.
    void add_cgroups(std::vector<port::FoundPod> found, MonotonicTime now);
    // A kernel event about a cgroup. `cgroups` opens one that was made.
    void apply(const CgroupLife& life, MonotonicTime time, const port::Cgroups& cgroups);

    // Every pod of the sources and those departed, ordered by uid.
    [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
    // Which of rows() has this cgroup. The first call after a change allocates, others do not. `near`: where the last
    // one was found; 0 at first. A pass over all cgroups comes to pods nearly in the order of their cgroups'
    // ids, so that few are searched for.
    [[nodiscard]] std::optional<std::size_t> row_of(CgroupId cgroup, std::size_t& near) const;
    [[nodiscard]] PodPtr pod(const PodUid& uid) const;  // null: there is no row of it
    [[nodiscard]] port::PodCgroupPtr cgroup_of(const PodUid& uid) const;
    [[nodiscard]] std::optional<PodUid> uid_of(CgroupId cgroup) const;
    // Cgroups that look like a pod's and are no known pod's: never touched. Without usage; the oldest
    // first, those of the same time by uid, so that the same ones are named each time.
    [[nodiscard]] const std::vector<UnknownPod>& unknown() const { return unknown_; }

private:
    struct Held {
        port::PodCgroupPtr cgroup;
        std::optional<MonotonicTime> emptied_at;
        MonotonicTime first_seen;
        bool holds_us = false;
        // It was made at this time or later: the kernel said so, or a complete listing did not have it. None: no proof.
        std::optional<MonotonicTime> made_at{};
    };
    [[nodiscard]] static Held held(port::PodCgroupPtr cgroup, MonotonicTime first_seen,
                                   std::optional<MonotonicTime> made_at);
    void hold(port::FoundPod found, MonotonicTime now);
    void join(MonotonicTime now = {});
    void keep_departed(const std::vector<Row>& before);
    void join(const PodUid& uid);
    void fill(Row& row);
    void index_rows() const;

    std::vector<std::vector<PodPtr>> sources_;
    std::unordered_map<PodUid, Held> held_;
    std::unordered_map<CgroupId, PodUid> uid_of_;
    std::vector<Row> rows_;
    mutable std::vector<std::pair<CgroupId, std::uint32_t>> row_of_;  // in ascending order
    mutable bool is_indexed_ = false;                                 // row_of_ is as rows_ is
    std::vector<UnknownPod> unknown_;
    std::optional<MonotonicTime> listed_at_;  // all cgroups, for the last time
};

}  // namespace evictd::observe

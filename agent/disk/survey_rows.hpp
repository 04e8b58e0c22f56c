// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The trees that are known, what was last measured of each, and which is to be walked next. No thread and no I/O: the
// surveyor's bookkeeping.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>

#include "disk/pod_trees.hpp"
#include "disk/tree_schedule.hpp"
#include "disk/workers.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/survey.hpp"

namespace evictd::disk {

struct TreeKey {
    PodUid pod;
    TreeKind kind = TreeKind::empty_dir;
    std::string path;
    friend auto operator<=>(const TreeKey&, const TreeKey&) = default;
};

struct TreeRow {
    TreePlace place;
    std::optional<TreeUsage> usage;
    std::string trouble;  // of the last attempt
    TreeCost cost;
    std::optional<MonotonicTime> tried;  // when its last walk ended, or failed
    MonotonicTime started;               // the walk that runs
    PulsePtr walking;                    // null: none
    bool is_wanted = false;              // as soon as possible
};

class SurveyRows {
public:
    struct Next {
        const TreeKey* key = nullptr;
        MonotonicTime due;
    };

    // Trees that are not in a whole listing are forgotten, and their walks cancelled.
    void take_listing(TreeListing listing, MonotonicTime began);
    // Of a walk that was started; of a tree that is forgotten nothing happens.
    void take_result(const TreeKey& key, const Result<TreeUsage>& result, Duration cpu, MonotonicTime now);
    void want(const PodUid& pod);
    void start(const TreeKey& key, PulsePtr pulse, MonotonicTime now);
    // Of those that are not being walked, the one that is due first; none: there is none.
    [[nodiscard]] std::optional<Next> next(const SurveyBudget& budget) const;
    [[nodiscard]] const TreeRow& at(const TreeKey& key) const { return rows_.at(key); }
    [[nodiscard]] SurveyPtr survey(MonotonicTime now, bool listing_hangs) const;

private:
    [[nodiscard]] SurveyedTree surveyed(const TreeRow& row, MonotonicTime now) const;

    std::map<TreeKey, TreeRow> rows_;
    MonotonicTime listed_;
    std::string trouble_ = "not listed yet";
};

}  // namespace evictd::disk

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The trees that are known, what was last measured of each, and which is to be walked next. No thread and no I/O: the
// surveyor's bookkeeping.
#pragma once

#include <compare>
#include <cstddef>
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
    int cut_offs = 0;                    // of its last walks, in a row: they took longer than they might
};

// How long its next walk may take. Twice as long after each that was cut off, eight times at most: a tree that is only
// large is measured at last, and one without an end does not keep others that are large from it for hours.
[[nodiscard]] Duration longest_walk_of(const TreeRow& row, Duration longest);

// Threads that walk trees.
struct StuckThreads {
    std::size_t hanging = 0;
    bool all = false;  // none is left
};

class SurveyRows {
public:
    struct Next {
        const TreeKey* key = nullptr;
        MonotonicTime due;
    };

    // Trees that are not in a whole listing are forgotten, and their walks cancelled.
    void take_listing(TreeListing listing, MonotonicTime began);
    // Of a walk that was started; of a tree that is forgotten nothing happens. `cut_off`: for it took too long.
    void take_result(const TreeKey& key, const Result<TreeUsage>& result, Duration cpu, MonotonicTime now,
                     bool cut_off = false);
    void want(const PodUid& pod);
    void start(const TreeKey& key, PulsePtr pulse, MonotonicTime now);
    // Of those that are not being walked, the one that is due first; none: there is none. Of those whose last walk was
    // cut off one at a time is walked, so that all of them together take one thread.
    [[nodiscard]] std::optional<Next> next(const SurveyBudget& budget) const;
    [[nodiscard]] const TreeRow& at(const TreeKey& key) const { return rows_.at(key); }
    [[nodiscard]] SurveyPtr survey(MonotonicTime now, bool listing_hangs, StuckThreads stuck = {}) const;

private:
    [[nodiscard]] bool walks_one_that_was_cut_off() const;
    [[nodiscard]] SurveyedTree surveyed(const TreeRow& row, MonotonicTime now) const;

    std::map<TreeKey, TreeRow> rows_;
    MonotonicTime listed_;
    std::string trouble_ = "not listed yet";
};

}  // namespace evictd::disk

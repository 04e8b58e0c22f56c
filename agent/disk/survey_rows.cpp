// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/survey_rows.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <utility>

namespace evictd::disk {
namespace {

MonotonicTime due_at(const TreeRow& row, double sum, const SurveyBudget& budget) {
    if (row.is_wanted || !row.tried) return {};
    if (!row.usage || !row.trouble.empty()) return *row.tried + budget.shortest;
    return *row.tried + walk_interval(row.cost, sum, budget);
}

constexpr int most_cut_offs = 3;

}  // namespace

Duration longest_walk_of(const TreeRow& row, Duration longest) {
    return longest * (1U << static_cast<unsigned>(row.cut_offs));
}

void SurveyRows::take_listing(TreeListing listing, MonotonicTime began) {
    std::set<TreeKey> found;
    for (auto& place : listing.trees) {
        TreeKey key{place.pod, place.kind, place.path};
        rows_.try_emplace(key).first->second.place = std::move(place);
        found.insert(std::move(key));
    }
    trouble_ = std::move(listing.trouble);
    if (!trouble_.empty()) return;
    listed_ = began;
    std::erase_if(rows_, [&](const auto& row) {
        const bool is_gone = !found.contains(row.first);
        if (is_gone && row.second.walking) row.second.walking->cancel();
        return is_gone;
    });
}

void SurveyRows::take_result(const TreeKey& key, const Result<TreeUsage>& result, Duration cpu, MonotonicTime now,
                             bool cut_off) {
    const auto found = rows_.find(key);
    if (found == rows_.end()) return;
    auto& row = found->second;
    row.walking = nullptr;
    row.tried = now;
    row.trouble = result ? std::string{} : result.error().text();
    if (!result) return;
    row.cut_offs = cut_off ? std::min(row.cut_offs + 1, most_cut_offs) : 0;
    if (row.usage && !cut_off) row.cost.growth = growth_between(*row.usage, *result);
    row.cost.cpu = cpu;
    row.usage = *result;
}

void SurveyRows::want(const PodUid& pod) {
    for (auto row = rows_.lower_bound({pod, {}, {}}); row != rows_.end() && row->first.pod == pod; ++row) {
        row->second.is_wanted = true;
    }
}

void SurveyRows::start(const TreeKey& key, PulsePtr pulse, MonotonicTime now) {
    auto& row = rows_.at(key);
    row.walking = std::move(pulse);
    row.started = now;
    row.is_wanted = false;
}

// One that hangs as well would keep the others waiting for ever.
bool SurveyRows::walks_one_that_was_cut_off() const {
    return std::any_of(rows_.begin(), rows_.end(), [](const auto& entry) {
        const TreeRow& row = entry.second;
        return row.walking && row.cut_offs > 0 && !row.walking->hangs();
    });
}

std::optional<SurveyRows::Next> SurveyRows::next(const SurveyBudget& budget) const {
    double sum = 0;
    for (const auto& [key, row] : rows_) sum += weight(row.cost);
    const bool others_only = walks_one_that_was_cut_off();
    std::optional<Next> first;
    for (const auto& [key, row] : rows_) {
        if (row.walking || (others_only && row.cut_offs > 0)) continue;
        const auto due = due_at(row, sum, budget);
        if (!first || due < first->due) first = Next{&key, due};
    }
    return first;
}

SurveyedTree SurveyRows::surveyed(const TreeRow& row, MonotonicTime now) const {
    SurveyedTree tree{row.place.kind, row.place.name, row.usage, row.trouble};
    if (row.walking && row.walking->hangs()) {
        const auto since = std::chrono::duration_cast<std::chrono::seconds>(now - row.started);
        tree.trouble = "walk not finished after " + std::to_string(since.count()) + " s";
    }
    return tree;
}

SurveyPtr SurveyRows::survey(MonotonicTime now, bool listing_hangs, StuckThreads stuck) const {
    auto survey = std::make_shared<Survey>();
    survey->listed = listed_;
    survey->trouble = trouble_;
    survey->hanging = stuck.hanging;
    if (stuck.all) {
        survey->trouble = "no longer measured: all " + std::to_string(stuck.hanging) + " threads are blocked on a disk";
    }
    if (listing_hangs) survey->trouble = "the directories of pods cannot be listed: a disk does not answer";
    for (const auto& [key, row] : rows_) {
        if (survey->pods.empty() || survey->pods.back().uid != key.pod) survey->pods.push_back({key.pod, {}});
        survey->pods.back().trees.push_back(surveyed(row, now));
    }
    return survey;
}

}  // namespace evictd::disk

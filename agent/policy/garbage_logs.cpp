// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which directories, links and rotated files of logs go. Never the file that is written to.
#include <algorithm>
#include <utility>

#include "evictd/model/log_names.hpp"
#include "garbage_parts.hpp"
#include "log_gc.hpp"

namespace evictd::policy {

namespace {

// All logs of one container of a pod are in one directory, whichever of its instances wrote them. Its ID is not known
// of all: those would count as one container's.
std::string_view directory_of(const RotatedLog& log) { return parts_of_path(log.path).directory; }

}  // namespace

void plan_logs(const GarbageLook& look, const std::unordered_set<std::string_view>& gone, GarbagePlan& plan) {
    const Runtime& runtime = look.runtime;
    std::string unknown = why_list_unknown(look, runtime.whole.logs, "logs");
    if (unknown.empty()) unknown = why_list_unknown(look, runtime.whole.containers, "containers");
    std::unordered_map<std::string_view, const RuntimeContainer*> writers;
    for (const RuntimeContainer& container : runtime.containers) {
        if (!gone.contains(container.id)) writers.try_emplace(container.pod, &container);
    }
    const PodNames names(runtime);
    std::vector<std::string> leaving;
    if (unknown.empty()) {
        leaving = collect_logs(runtime, [&look](const std::string& uid) { return look.word_of(uid).fate; });
    }
    const std::unordered_set<std::string_view> chosen(leaving.begin(), leaving.end());
    for (const LogDirectory& directory : runtime.log_directories) {
        const std::string pod = pod_of_log_directory(directory.name);
        Garbage one{GarbageKind::log_directory, directory.name, names.of(pod), {pod}, directory.size, unknown};
        const auto writer = writers.find(pod);
        if (!is_plain_name(directory.name)) {
            one.why = "not the name of a directory";
        } else if (unknown.empty() && writer != writers.end()) {
            one.why = "container " + writer->second->name + " of its pod is not removed";
        } else if (unknown.empty()) {
            const bool goes = chosen.contains(directory.name);
            one.why = goes ? "its pod is gone" : look.word_of(pod).why;
            if (goes) plan.removals.push_back(one);
            if (goes) continue;
        }
        plan.kept.push_back(std::move(one));
    }
    for (const LogLink& link : runtime.log_links) {
        Garbage one{GarbageKind::log_link, link.path, link.path, {}, {}, unknown};
        const bool goes = chosen.contains(link.path);
        if (unknown.empty()) {
            one.why = goes            ? "it points nowhere, and its container is dead"
                      : link.dangling ? "its container may be rotating the log"
                                      : "it points to a log";
        }
        (goes ? plan.removals : plan.kept).push_back(std::move(one));
    }
}

void plan_rotated_logs(const GarbageLook& look, GarbagePlan& plan) {
    const Runtime& runtime = look.runtime;
    const std::string unknown = why_list_unknown(look, runtime.whole.logs, "logs");
    const PodNames names(runtime);
    std::unordered_map<std::string_view, std::int64_t> sums;
    std::vector<const RotatedLog*> order;
    for (const RotatedLog& log : runtime.rotated_logs) {
        auto& sum = sums[directory_of(log)];
        if (__builtin_add_overflow(sum, std::max<std::int64_t>(log.size.value, 0), &sum)) sum = INT64_MAX;
        order.push_back(&log);
    }
    std::stable_sort(order.begin(), order.end(), [&sums](const RotatedLog* a, const RotatedLog* b) {
        const auto sum_a = sums.at(directory_of(*a));
        const auto sum_b = sums.at(directory_of(*b));
        if (sum_a != sum_b) return sum_a > sum_b;
        if (directory_of(*a) != directory_of(*b)) return directory_of(*a) < directory_of(*b);
        return a->size > b->size;
    });
    // They are what a person may still want to read: not before it was measured what all else has freed.
    const bool comes_later = !plan.removals.empty();
    const auto missing = look.request.missing;
    Bytes freed;
    for (const RotatedLog* log : order) {
        Garbage one{GarbageKind::rotated_log, log->path, log->path, {log->pod}, log->size, unknown};
        const bool is_rotated = is_rotated_log(parts_of_path(log->path).name);
        if (unknown.empty() && !is_rotated) one.why = "not the name of a rotated log";
        if (one.why.empty() && comes_later) {
            one.why = "goes only if what is removed before is not enough";
            plan.more = true;
        }
        if (one.why.empty() && missing && freed >= *missing) {
            one.why = "not needed: the sizes of what goes are enough for the thresholds";
            plan.more = true;
        }
        const bool goes = one.why.empty();
        if (goes) {
            one.why = "a rotated log of " + names.of(log->pod);
            const Bytes size = std::max(log->size, Bytes{0});
            if (__builtin_add_overflow(freed.value, size.value, &freed.value)) freed.value = INT64_MAX;
        }
        (goes ? plan.removals : plan.kept).push_back(std::move(one));
    }
}

}  // namespace evictd::policy

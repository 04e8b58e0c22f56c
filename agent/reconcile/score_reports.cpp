// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/score_reports.hpp"

#include <utility>

#include "evictd/model/text.hpp"

namespace evictd::reconcile {
namespace {

// A pod is spoken of once in this time.
constexpr Duration tell_every = std::chrono::seconds(10);
// More pods than that at once are reported in one sentence: an agent that starts on a node with other scores.
constexpr std::size_t most_at_once = 8;

std::optional<MonotonicTime> after(bool something, const std::optional<MonotonicTime>& told_at) {
    if (!something) {
        return std::nullopt;
    }
    return told_at ? *told_at + tell_every : MonotonicTime{};
}

}  // namespace

std::optional<MonotonicTime> ScoreReport::set_due() const {
    return after(repaired > 0 || found > 0 || !refusal.empty() || !left_alone.empty(), told_at);
}

std::optional<MonotonicTime> ScoreReport::steer_due() const { return after(raised > 0 || restored > 0, steer_told_at); }

ScoreReports::ScoreReports(const sys::Clock& clock, const ScoreOptions& options, std::function<void(AgentNotice)> tell)
    : clock_(clock), dry_run_(options.dry_run), only_looks_(options.only_looks()), tell_(std::move(tell)) {}

void ScoreReports::tell_set(const std::vector<Due>& due) const {
    const bool many = due.size() > most_at_once;
    if (many) {
        tell_sum(due);
    }
    for (const auto& [pod, report] : due) {
        if (!many) {
            tell_one(pod, *report);
        }
        report->told_at = clock_.monotonic();
        report->repaired = 0;
        report->found = 0;
        report->refusal.clear();
        report->left_alone.clear();
    }
}

void ScoreReports::tell_one(const PodPtr& pod, const ScoreReport& report) const {
    const std::string name = pod->full_name();
    std::string text;
    if (report.repaired > 0) {
        text = "Set oom_score_adj of " + processes_text(report.repaired) + " of pod " + name +
               " to what its QoS class says: " + report.example;
    } else if (report.found > 0) {
        text = (dry_run_ ? "Dry run: would have set" : "Observe only, not changed:") +
               std::string(" oom_score_adj of ") + processes_text(report.found) + " of pod " + name + ": " +
               report.example;
    } else {
        text = "oom_score_adj of pod " + name + " cannot be set to what its QoS class says: " + report.example;
    }
    if (!report.left_alone.empty()) {
        text += "; " + report.left_alone + ", so evictd leaves this pod alone for 10s";
    }
    say(pod, std::move(text), report.refusal.empty() ? report.left_alone : report.refusal);
}

void ScoreReports::tell_sum(const std::vector<Due>& due) const {
    int repaired = 0;
    int found = 0;
    std::string refusal;
    std::size_t refused = 0;
    for (const auto& [pod, report] : due) {
        repaired += report->repaired;
        found += report->found;
        refused += report->refusal.empty() ? 0U : 1U;
        refusal = report->refusal.empty() ? refusal : report->refusal;
    }
    std::string text = "Set oom_score_adj of " + processes_text(repaired);
    if (only_looks_) {
        text = "Observe only, not changed: oom_score_adj of " + processes_text(found);
    }
    text += " in " + std::to_string(due.size()) + " pods";
    if (refused > 0) {
        text += "; in " + std::to_string(refused) + " of them it cannot be lowered as far as the QoS class says";
    }
    say(nullptr, std::move(text), std::move(refusal));
}

void ScoreReports::tell_steered(const PodPtr& pod, ScoreReport& report, bool raised) const {
    const int count = raised ? report.raised : report.restored;
    const std::string processes = processes_text(count) + " of pod " + pod->full_name();
    if (raised && count > 0) {
        say(pod,
            "Raised oom_score_adj of " + processes +
                " to 1000: memory is within 64Mi of a threshold, and if the kernel's OOM killer is faster it takes "
                "the pod that evictd would evict first");
    } else if (count > 0) {
        say(pod, "Put back oom_score_adj of " + processes);
    }
    report.raised = 0;
    report.restored = 0;
    report.steer_told_at = clock_.monotonic();
}

void ScoreReports::tell_slow(const PodPtr& pod, ScoreReport& report) const {
    say(pod, "oom_score_adj of pod " + pod->full_name() + ": " + report.slow, report.slow);
    report.slow.clear();
}

void ScoreReports::say(const PodPtr& pod, std::string message, std::string error) const {
    tell_({.notice = Notice::oom_score_adjusted,
           .wall = clock_.wall(),
           .message = std::move(message),
           .error = std::move(error),
           .pod = pod,
           .dry_run = dry_run_});
}

}  // namespace evictd::reconcile

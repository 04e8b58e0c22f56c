// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/class_scores.hpp"

#include <fmt/format.h>

namespace evictd::reconcile {
namespace {

// A pod that rewrites it this often in so short a time is looping. Ten looks cost 2 ms or so.
constexpr int most_rounds = 10;
constexpr Duration rounds_within = std::chrono::seconds(5);
constexpr Duration leave_alone_for = std::chrono::seconds(10);
// PodInfraOOMAdj of qos/policy.go: a sandbox's, which is none of the pod's containers.
constexpr int sandbox_score = -998;

bool is_sandbox(const Pod& pod, const std::string& container, int score) {
    return score == sandbox_score && container_in(pod, container) == nullptr;
}

std::string refusal_text(const port::ScoredProcess& process, int wanted, const Error& error) {
    return fmt::format("oom_score_adj {} for pid {}: {}{}", wanted, process.pid(), error.why,
                       error.kind == ErrorKind::not_permitted ? " (give evictd CAP_SYS_RESOURCE)" : "");
}

}  // namespace

ClassScores::Round ClassScores::begin(const Pod& pod, Bytes node_memory) const {
    return {.node_memory = node_memory, .whole = options_.wanted(pod, {}, node_memory)};
}

void ClassScores::visit(const Pod& pod, port::ScoredProcess& process, int score, Round& round, const History& history,
                        ScoreReport& report) const {
    if (round.whole.least == round.whole.most && round.whole.contains(score)) {
        return;
    }
    const auto container = process.container();
    const auto range = options_.wanted(pod, container, round.node_memory);
    if (range.contains(score) || is_sandbox(pod, container, score)) {
        return;
    }
    const int wanted = range.nearest(score);
    report.example = fmt::format("pid {}{}{} had {}, not {}", process.pid(), container.empty() ? "" : " in ", container,
                                 score, wanted);
    if (options_.only_looks()) {
        round.found++;
        return;
    }
    if (const auto set = process.set_score(wanted)) {
        round.repaired++;
    } else if (set.error().kind != ErrorKind::vanished) {
        round.refused++;
        if (!history.refused && report.refusal.empty()) {
            report.refusal = refusal_text(process, wanted, set.error());
        }
    }
}

std::optional<MonotonicTime> ClassScores::end(const Round& round, History& history, ScoreReport& report,
                                              MonotonicTime now) {
    if (round.found > 0 && !history.found) {
        report.found = round.found;
    }
    history.found = round.found > 0;
    history.refused = history.refused || round.refused > 0;
    if (round.repaired == 0) {
        return std::nullopt;
    }
    report.repaired += round.repaired;
    if (history.rounds == 0 || now - history.rounds_since > rounds_within) {
        history.rounds = 0;
        history.rounds_since = now;
    }
    if (++history.rounds < most_rounds) {
        return now + look_again_after;
    }
    report.left_alone = "it was reset " + std::to_string(history.rounds) + " times in a row";
    history.left_alone_until = now + leave_alone_for;
    history.rounds = 0;
    return history.left_alone_until;
}

}  // namespace evictd::reconcile

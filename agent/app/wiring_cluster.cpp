// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Wiring's parts that keep the API server's view of this node.
#include <memory>
#include <string>
#include <utility>

#include "app/random_share.hpp"
#include "app/wiring_parts.hpp"

namespace evictd::app {
namespace {

SourceRow node_row(const reconcile::NodeStatusFigures& figures) {
    SourceRow row{.hook = "node_status", .chosen = figures.shown, .fallback = !figures.problem.empty(), .detail = {}};
    row.detail = figures.problem;
    if (figures.confirmed_at) {
        row.detail += (row.detail.empty() ? "as of " : "; as of ") + codec::kube_time(*figures.confirmed_at);
    } else if (row.detail.empty()) {
        row.detail = "not shown in the API server yet";
    }
    return row;
}

SourceRow shutdown_row_of(const std::string& problem) {
    return {.hook = "node shutdown",
            .chosen = problem.empty() ? "logind" : "node object",
            .fallback = !problem.empty(),
            .detail = problem.empty() ? "" : "logind: " + problem};
}

}  // namespace

// False: refused.
bool Wiring::Parts::show_node_status(const reconcile::NodeStatusFigures& figures) {
    return loop->post([this, row = node_row(figures)]() mutable {
        node_status_row = std::move(row);
        publishers.board->set_agent(facts());
    });
}

// Without its thread the node's object says whether the node shuts down, as without a bus.
void Wiring::Parts::start_logind() {
    if (!api) {
        return;
    }
    // In logind's thread. What the loop does not take now is said again.
    auto started = sys::Logind::start(
        [this](const sys::LogindWord& word) { return loop->post([this, word] { note_logind(word); }); });
    if (!started) {
        shutdown_row.detail = "logind: " + started.error().text();
        return sys::log::warn(shutdown_row.detail);
    }
    logind = std::move(*started);
}

void Wiring::Parts::note_logind(const sys::LogindWord& word) {
    const bool is_heard = word.problem.empty();
    SourceRow row = shutdown_row_of(word.problem);
    if (row.detail != shutdown_row.detail || row.chosen != shutdown_row.chosen) {
        shutdown_row = std::move(row);
        publishers.board->set_agent(facts());
    }
    if (word.said_at == MonotonicTime{}) {
        return;  // it never answered
    }
    if (std::exchange(was_shutting_down, word.shuts_down) != word.shuts_down) {
        sys::log::info(word.shuts_down ? "logind: shutdown in progress; evictions are suspended"
                                       : "logind: shutdown cancelled; evictions resume");
    }
    agent->note_logind({.shuts_down = word.shuts_down, .said_at = word.said_at, .current = is_heard});
}

Status Wiring::Parts::make_node_status() {
    if (!api) {
        config.eviction.node_status = NodeStatusUse::off;
    }
    const bool is_off = config.eviction.node_status == NodeStatusUse::off;
    if (!api || (is_off && config.agent.dry_run)) {
        return {};
    }
    using Loop = reconcile::ControlLoop<reconcile::NodeStatusKeeper>;
    const auto after_each = [this, shown = std::optional<reconcile::NodeStatusFigures>()](const auto& keeper) mutable {
        if (auto figures = keeper.figures(); !keeper.is_once() && figures != shown && show_node_status(figures)) {
            shown = std::move(figures);
        }
    };
    reconcile::NodeStatusOptions options{
        .node = node,
        .dry_run = config.agent.dry_run,
        .once = is_off,  // an agent that had it on may have been killed
        .transition_period = is_off ? Duration::zero() : Duration(config.eviction.pressure_transition_period),
        .random = random_share(),
        .note = [this](const std::string& problem) {
            sys::log::warn(problem);
            (void)publishers.fanout->publish(std::make_shared<const Record>(AgentNotice{
                .notice = Notice::signal_source_changed, .wall = clock.wall(), .message = problem, .error = {}}));
        }};
    const auto answers = std::make_shared<reconcile::ApiAnswers>();
    auto made = Loop::make({.name = "evictd-node", .duty = sys::Duty::may_block, .after_each = after_each}, *api, clock,
                           std::move(options), answers);
    if (!made) {
        return tl::unexpected(made.error());
    }
    node_status = std::move(*made);
    // release() ends it, before the loop goes.
    answers->wake_by([to = node_status.get()] { to->tell(&reconcile::NodeStatusKeeper::take_answers); });
    if (is_off) {
        node_status->want({});
    }
    return {};
}

}  // namespace evictd::app

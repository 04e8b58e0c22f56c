// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Wiring's parts that keep the API server's view of this node.
#include <memory>
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

}  // namespace

// False: refused.
bool Wiring::Parts::show_node_status(const reconcile::NodeStatusFigures& figures) {
    return loop->post([this, row = node_row(figures)]() mutable {
        node_status_row = std::move(row);
        publishers.board->set_agent(facts());
    });
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

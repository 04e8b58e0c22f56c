// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// NodeStatusKeeper: the taints and conditions that the node is to have now, with those that an agent before it left.
#include <algorithm>
#include <utility>

#include "reconcile/node_status_keeper.hpp"
#include "sys/log.hpp"

namespace evictd::reconcile {

// Since it was never desired here, an agent before this one has set it, and was killed. It knew of pressure that
// this one cannot know of, so what it set stays for the transition period.
bool NodeStatusKeeper::is_left_by_another(const Taint& taint) const {
    return !is_ending_ && !wanted_once_.contains({taint.key, taint.effect});
}

std::vector<Taint> NodeStatusKeeper::wanted_taints(MonotonicTime now) {
    auto wanted = desired_->taints;
    const auto until = started_ + options_.transition_period;
    for (const auto& one : node_->taints) {
        if (!codec::is_own(one.taint.key) || !is_left_by_another(one.taint) || now >= until) {
            continue;
        }
        wanted.push_back(one.taint);
        look_again_by(until);
    }
    return wanted;
}

codec::ConditionsChange NodeStatusKeeper::wanted_conditions(MonotonicTime now) {
    codec::ConditionsChange change;
    const auto until = started_ + options_.transition_period;
    for (const auto& desired : desired_->conditions) {
        const bool is_left = std::any_of(
            node_->conditions.begin(), node_->conditions.end(),
            [&](const codec::NodeCondition& one) { return one.type == desired.type && one.status == "True"; });
        if (is_left && !desired.status && !is_ending_ && !true_once_.contains(desired.type) && now < until) {
            look_again_by(until);
            continue;
        }
        if (auto changed = codec::changed_condition(*node_, desired, clock_.wall())) {
            change.set.push_back(std::move(*changed));
        }
    }
    for (const auto& one : node_->conditions) {
        const bool is_desired = std::any_of(desired_->conditions.begin(), desired_->conditions.end(),
                                            [&](const DesiredCondition& each) { return each.type == one.type; });
        const auto since = unlisted_since_.find(one.type);
        const auto end = (since == unlisted_since_.end() ? started_ : since->second) + options_.transition_period;
        if (is_desired) {
            continue;
        }
        if (is_ending_ || now >= end) {
            change.remove.push_back(one.type);
        } else {
            look_again_by(end);
        }
    }
    return change;
}

void NodeStatusKeeper::look_again_by(MonotonicTime time) { expires_ = std::min(expires_.value_or(time), time); }

void NodeStatusKeeper::pretend(const DesiredNodeStatus& desired) const {
    std::string text;
    for (const auto& condition : desired.conditions) {
        text += (text.empty() ? "" : ", ") + condition.type + "=" + (condition.status ? "True" : "False");
    }
    for (const auto& taint : desired.taints) {
        text += ", taint " + taint.key + ":" + taint.effect;
    }
    sys::log::info("dry run: node " + options_.node + " would have " + (text.empty() ? "no condition" : text));
}

}  // namespace evictd::reconcile

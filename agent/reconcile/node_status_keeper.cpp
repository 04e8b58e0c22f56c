// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/node_status_keeper.hpp"

#include <algorithm>

#include "sys/log.hpp"

namespace evictd::reconcile {
namespace {

using namespace std::chrono_literals;

// Foreign changes are found then. 5,000 nodes make 8 requests a second of it; half of it would make 17.
constexpr Duration resync_period = 10min;
// What is refused stays refused until a person changes the rights, but a server that has just started refuses
// everything (port::longest_start): soon again at first, then twice as late each time.
constexpr Duration refused_period = 10min;
constexpr Duration first_refused_pause = 2s;
constexpr Duration shortest_node_back_off = 1s;
constexpr std::chrono::seconds longest_node_back_off = 60s;
constexpr Duration node_request_timeout = 5s;
// Between rounds when the agent ends: it has seconds.
constexpr Duration pause_at_the_end = 250ms;
// Requests wait for the client's rate limit before their own time begins.
constexpr Duration patience = node_request_timeout + 10s;
// Whoever else changes the node is between us and it: the kubelet does so every 10 s at most.
constexpr int most_conflicts = 5;

std::string about(long status, const std::string& body) {
    return "status " + std::to_string(status) + ": " + codec::refusal_text(body);
}

}  // namespace

NodeStatusKeeper::NodeStatusKeeper(port::ApiServer& api, const sys::Clock& clock, NodeStatusOptions options,
                                   std::shared_ptr<ApiAnswers> answers)
    : api_(api),
      clock_(clock),
      options_(std::move(options)),
      answers_(std::move(answers)),
      started_(clock.monotonic()) {}

void NodeStatusKeeper::reconcile(const DesiredNodeStatus& desired) {
    if (desired_ == desired) {
        return;
    }
    if (options_.dry_run) {
        pretend(desired);
    }
    const auto now = clock_.monotonic();
    for (const auto& before : desired_ ? desired_->conditions : std::vector<DesiredCondition>{}) {
        unlisted_since_[before.type] = now;
    }
    for (const auto& condition : desired.conditions) {
        unlisted_since_.erase(condition.type);
        if (condition.status) {
            true_once_.insert(condition.type);
        }
    }
    for (const auto& taint : desired.taints) {
        wanted_once_.emplace(taint.key, taint.effect);
    }
    desired_ = desired;
    is_new_ = true;
    if (!call_ && !failures_.any()) {
        next_ = now;
    }
}

std::optional<MonotonicTime> NodeStatusKeeper::due() const {
    if (options_.dry_run) {
        return std::nullopt;
    }
    return call_ ? std::optional(call_->deadline) : next_;
}

void NodeStatusKeeper::act_on_time() {
    const auto now = clock_.monotonic();
    if (options_.dry_run) {
        return;
    }
    if (call_ && now >= call_->deadline) {
        call_.reset();
        retry("no answer", Duration::zero());
    } else if (!call_ && next_ && now >= *next_) {
        begin_round();
    }
}

void NodeStatusKeeper::begin_round() {
    next_.reset();
    expires_.reset();
    node_.reset();
    is_new_ = false;
    has_failed_ = false;
    send(Step::read, {.path = "/api/v1/nodes/" + options_.node});
}

void NodeStatusKeeper::send(Step step, port::ApiRequest request) {
    request.timeout = node_request_timeout;
    const auto id = ++requests_;
    was_heard_ = false;
    call_ = Call{.step = step, .request = id, .deadline = clock_.monotonic() + patience};
    const bool sent = api_.send(std::move(request), [answers = answers_, id](const Result<port::ApiReply>& reply) {
        answers->put({.request = id, .reply = reply});
    });
    if (!sent) {
        call_.reset();
        retry("too many requests wait", Duration::zero());
    }
}

void NodeStatusKeeper::take_answers() {
    while (const auto answer = answers_->take()) {
        on_answer(*answer);
    }
}

// One that is not awaited any more is late: what it did is seen when the node is read again.
void NodeStatusKeeper::on_answer(const ApiAnswer& answer) {
    if (!call_ || call_->request != answer.request) {
        return;
    }
    const auto step = call_->step;
    call_.reset();
    was_heard_ = answer.reply.has_value();
    if (!answer.reply) {
        retry(answer.reply.error().text(), Duration::zero());
    } else if (answer.reply->accepted()) {
        on_accepted(step, *answer.reply);
    } else {
        on_refused(step, *answer.reply);
    }
}

void NodeStatusKeeper::on_accepted(Step step, const port::ApiReply& reply) {
    if (step == Step::read) {
        node_ = codec::read_node(reply.body);
        if (!node_ || node_->name != options_.node) {
            retry("what it answered is not this node", Duration::zero());
            return;
        }
        patch_taints();
    } else if (step == Step::taints) {
        // Its version is what the next patch names. Without it that one is refused, and the node is read again.
        if (auto patched = codec::read_node(reply.body); patched && patched->name == options_.node) {
            node_ = std::move(patched);
        }
        patch_conditions();
    } else {
        finish_round();
    }
}

void NodeStatusKeeper::on_refused(Step step, const port::ApiReply& reply) {
    const auto why = about(reply.status, reply.body);
    const bool can_be_later = reply.status == 401 || reply.status == 404 || reply.status == 429 || reply.status >= 500;
    const bool is_unreadable = step == Step::read && reply.status == 403;
    const bool is_lasting = refused_pause_ > 0s && clock_.monotonic() - refused_since_ >= port::longest_start;
    if (is_unreadable && options_.once && is_lasting) {
        next_.reset();  // without the right to read nodes it has left nothing there
    } else if (reply.status == 409 && ++conflicts_ <= most_conflicts) {
        begin_round();
    } else if (can_be_later || reply.status == 409 || step == Step::read) {
        // Whoever answers in the server's place may ask for an hour, and a taint would stay for it.
        const Duration asked = std::min(reply.retry_after.value_or(0s), longest_node_back_off);
        retry(is_unreadable && options_.once ? std::string{} : why, is_unreadable ? next_refused_pause() : asked);
    } else if (step == Step::taints) {
        leave_until(taints_refused_until_, options_.once ? "its taints are left" : "its taints are not shown", why);
        patch_conditions();
    } else {
        leave_until(conditions_refused_until_,
                    options_.once ? "its conditions are left" : "its conditions are not shown", why);
        finish_round();
    }
}

void NodeStatusKeeper::leave_until(MonotonicTime& refused_until, const std::string& what, const std::string& why) {
    refused_until = clock_.monotonic() + next_refused_pause();
    look_again_by(refused_until);
    has_failed_ = true;
    say(what + ": " + why);
}

Duration NodeStatusKeeper::next_refused_pause() {
    if (refused_pause_ == Duration::zero()) {
        refused_since_ = clock_.monotonic();
    }
    refused_pause_ = std::clamp<Duration>(refused_pause_ * 2, first_refused_pause, refused_period);
    return spread(refused_pause_);
}

void NodeStatusKeeper::patch_taints() {
    const auto now = clock_.monotonic();
    const auto wanted = wanted_taints(now);
    std::vector<Taint> own;
    for (const auto& one : node_->taints) {
        if (codec::is_own(one.taint.key)) {
            own.push_back(one.taint);
        }
    }
    const bool same = std::is_permutation(own.begin(), own.end(), wanted.begin(), wanted.end());
    if (same || now < taints_refused_until_) {
        has_failed_ = has_failed_ || !same;
        patch_conditions();
        return;
    }
    send(Step::taints, {.method = "PATCH",
                        .path = "/api/v1/nodes/" + options_.node,
                        .content_type = codec::merge_patch,
                        .body = codec::taints_patch(*node_, wanted)});
}

void NodeStatusKeeper::patch_conditions() {
    const auto now = clock_.monotonic();
    const auto change = wanted_conditions(now);
    if (change.empty() || now < conditions_refused_until_) {
        has_failed_ = has_failed_ || !change.empty();
        finish_round();
        return;
    }
    send(Step::conditions, {.method = "PATCH",
                            .path = "/api/v1/nodes/" + options_.node + "/status",
                            .content_type = codec::strategic_merge_patch,
                            .body = codec::conditions_patch(*node_, change, clock_.wall())});
}

void NodeStatusKeeper::finish_round() {
    const auto now = clock_.monotonic();
    conflicts_ = 0;
    failures_.clear();
    next_ = now + spread(resync_period);
    if (expires_) {
        next_ = std::min(*next_, *expires_);
    }
    if (is_new_) {
        next_ = now;
    }
    if (has_failed_) {
        return;
    }
    confirmed_at_ = clock_.wall();
    refused_pause_ = Duration::zero();
    if (options_.once && !is_new_) {
        next_.reset();
        return;
    }
    // What was refused, and is not needed now, may be refused again.
    if (now >= taints_refused_until_ && now >= conditions_refused_until_) {
        say({});
    }
}

void NodeStatusKeeper::retry(const std::string& problem, Duration at_least) {
    const Duration pause = back_off(shortest_node_back_off, longest_node_back_off, failures_.add(was_heard_));
    next_ = clock_.monotonic() + std::max(at_least, is_ending_ ? pause_at_the_end : spread(pause));
    has_failed_ = true;
    if (!problem.empty()) {
        say("it could not be updated: " + problem);
    }
}

// From half of it to one and a half, so that agents that met the same trouble do not come back together.
Duration NodeStatusKeeper::spread(Duration period) const {
    const double factor = 0.5 + (options_.random ? options_.random() : 0.5);
    return std::chrono::duration_cast<Duration>(period * factor);
}

void NodeStatusKeeper::say(const std::string& problem) {
    if (std::exchange(problem_, problem) == problem) {
        return;
    }
    if (problem.empty()) {
        sys::log::info("node " + options_.node + " shows conditions and taints in the API server");
    } else if (options_.note) {
        options_.note("node " + options_.node + " in the API server: " + problem);
    }
}

NodeStatusFigures NodeStatusKeeper::figures() const {
    NodeStatusFigures figures{.shown = {}, .problem = problem_, .confirmed_at = confirmed_at_};
    const auto now = clock_.monotonic();
    if (options_.dry_run) {
        figures.shown = "would be shown";
    } else if (confirmed_at_ || has_failed_) {
        const bool conditions = node_ && now >= conditions_refused_until_;
        const bool taints = node_ && now >= taints_refused_until_;
        figures.shown = conditions && taints ? "conditions, taints"
                        : conditions         ? "conditions"
                        : taints             ? "taints"
                                             : "";
    }
    return figures;
}

}  // namespace evictd::reconcile

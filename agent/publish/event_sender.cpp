// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/event_sender.hpp"

#include <algorithm>
#include <utility>

#include "codec/node_object.hpp"
#include "evictd/model/text.hpp"
#include "sys/log.hpp"

namespace evictd::publish {
namespace {

using namespace std::chrono_literals;

constexpr Duration request_timeout = 5s;
constexpr Duration patience = request_timeout + 10s;  // with the wait for the client's rate limit
constexpr Duration shortest_back_off = 1s;
constexpr Duration longest_back_off = 5min;
constexpr std::chrono::seconds longest_retry_after = 1min;
// Of one event, which an admission webhook of its namespace alone may fail: from then on it lets others go first, and
// in the end it goes.
constexpr int most_failures_as_first = 5;
constexpr int most_failures = 20;

// A namespace that is being deleted takes no new objects (NamespaceLifecycle), and its events are of no use.
bool is_terminating(const port::ApiReply& reply) {
    return reply.status == 403 && reply.body.find("being terminated") != std::string::npos;
}

// A token is rotated, and a server has trouble, whatever the event is.
bool is_temporary(const port::ApiReply& reply) {
    return reply.status == 401 || reply.status == 429 || reply.status >= 500;
}

}  // namespace

EventSender::EventSender(std::shared_ptr<port::ApiServer> api, const sys::Clock& clock, EventSenderOptions options,
                         std::shared_ptr<EventAnswers> answers)
    : api_(std::move(api)),
      clock_(clock),
      options_(std::move(options)),
      answers_(std::move(answers)),
      spool_(options_.spool_path) {}

void EventSender::load() {
    if (options_.dry_run) return;
    if (const auto loaded = spool_.load(); !loaded) sys::log::warn("kube events: " + loaded.error().text());
}

void EventSender::add(codec::KubeEvent event) {
    auto correlated = correlator_.correlate(std::move(event), clock_.monotonic());
    if (!correlated) return;
    const auto& made = correlated->event;
    if (options_.dry_run) {
        sys::log::info("dry run: event " + made.reason + " on " + made.object.kind + " " + made.name_space() + "/" +
                       made.object.name + " would be sent: " + made.message);
        return;
    }
    const bool fits = spool_.add({.name_space = made.name_space(),
                                  .name = made.name,
                                  .reason = made.reason,
                                  .json = codec::kube_event_json(made, options_.node),
                                  .is_again = correlated->is_again},
                                 [this](const SpooledEvent& one) { return holds_.is_lasting(one.name_space); });
    if (!fits) ++lost_;
}

void EventSender::work() {
    while (const auto answer = answers_->take()) on_answer(*answer);
    const auto now = clock_.monotonic();
    if (call_ && now >= call_->deadline) {
        call_.reset();
        retry(Duration::zero());
    }
    write_down();
    if (call_ || now < next_) return;
    if (const auto index = next_sendable(now)) {
        spool_.bring_to_front(*index);
        send();
    }
}

std::optional<MonotonicTime> EventSender::due() const {
    if (call_) return call_->deadline;
    std::optional<MonotonicTime> first;
    for (const auto& event : spool_.events()) {
        const auto at = std::max(next_, holds_.until(event.name_space));
        first = std::min(first.value_or(at), at);
    }
    return first;
}

// The oldest of those whose namespace is not held.
std::optional<std::size_t> EventSender::next_sendable(MonotonicTime now) const {
    const auto& events = spool_.events();
    const auto found = std::find_if(events.begin(), events.end(),
                                    [&](const SpooledEvent& one) { return holds_.until(one.name_space) <= now; });
    if (found == events.end()) return std::nullopt;
    return static_cast<std::size_t>(found - events.begin());
}

// Before it is sent, so that an agent that is killed loses none.
void EventSender::write_down() {
    const auto saved = spool_.save();
    if (!saved && !std::exchange(is_unsaved_, true)) {
        sys::log::error("kube events that are not delivered are lost if evictd ends: " + saved.error().text());
    }
    is_unsaved_ = is_unsaved_ && !saved;
}

void EventSender::send() {
    const auto& event = spool_.begin_first();
    const auto id = ++requests_;
    const auto events = "/api/v1/namespaces/" + event.name_space + "/events";
    port::ApiRequest request{.method = event.is_again ? "PATCH" : "POST",
                             .path = event.is_again ? events + "/" + event.name : events,
                             .content_type = event.is_again ? codec::event_patch_type : "application/json",
                             .body = event.is_again ? codec::kube_event_patch(event.json) : event.json,
                             .timeout = request_timeout};
    call_ = Call{.request = id, .is_patch = event.is_again, .deadline = clock_.monotonic() + patience};
    const bool sent = api_->send(std::move(request), [answers = answers_, id](const Result<port::ApiReply>& reply) {
        answers->put({.request = id, .reply = reply});
    });
    if (!sent) {
        call_.reset();
        retry(Duration::zero());
    }
}

void EventSender::on_answer(const EventAnswer& answer) {
    if (!call_ || call_->request != answer.request) return;
    const bool was_patch = call_->is_patch;
    call_.reset();
    if (answer.reply) {
        on_reply(was_patch, *answer.reply);
    } else {
        retry(Duration::zero());
    }
}

void EventSender::on_reply(bool was_patch, const port::ApiReply& reply) {
    const bool is_there = !was_patch && reply.status == 409;
    if (reply.accepted() || is_there) {
        said_.clear();
        back_off_ = Duration::zero();
        next_ = {};
        ++accepted_;
        holds_.accept(spool_.events().front().name_space);
        spool_.drop_first();
    } else if (was_patch && reply.status == 404) {  // it has expired (--event-ttl): client-go makes it anew, too
        spool_.again_as_new();
        spool_.put_back_first();
    } else if (is_temporary(reply)) {
        const auto why = std::to_string(reply.status) + ": " + codec::refusal_text(reply.body);
        retry(std::min(reply.retry_after.value_or(0s), longest_retry_after));
        if (reply.status >= 500) note_failure(why);
    } else if (reply.status == 403 && !is_terminating(reply)) {
        put_off(codec::refusal_text(reply.body));
    } else {
        const bool is_gone = reply.status == 404 || is_terminating(reply);
        lose(is_gone ? std::string{} : std::to_string(reply.status) + ": " + codec::refusal_text(reply.body));
    }
}

void EventSender::retry(Duration at_least) {
    spool_.put_back_first();
    back_off_ = std::clamp<Duration>(back_off_ * 2, shortest_back_off, longest_back_off);
    next_ = clock_.monotonic() + std::max(at_least, std::chrono::duration_cast<Duration>(back_off_ * spread()));
}

double EventSender::spread() const { return 0.5 + (options_.random ? options_.random() : 0.5); }

// The server is there, and this namespace takes no event, or the event is forbidden: others go first.
void EventSender::put_off(const std::string& why) {
    const auto name_space = spool_.events().front().name_space;
    const auto of_namespace = "the API server forbids kube events in namespace " + printable(name_space);
    const auto refusals = holds_.refuse(name_space, clock_.monotonic(), spread());
    if (refusals == 1) sys::log::warn(of_namespace + ", which are kept and tried again: 403: " + why);
    if (refusals == EventHolds::most_refusals) sys::log::warn(of_namespace + ", which are dropped: 403: " + why);
    if (refusals >= EventHolds::most_refusals) {
        lost_ += spool_.drop_namespace(name_space);
    } else if (spool_.fail_first(accepted_).count >= EventHolds::most_refusals) {
        lose("403: " + why);
    } else {
        spool_.move_first_to_end();
    }
}

// A server that accepts nothing at all is away, and costs no event.
void EventSender::note_failure(const std::string& why) {
    const auto& failures = spool_.fail_first(accepted_);
    if (failures.count >= most_failures && failures.accepted_before < accepted_) {
        lose(why);
    } else if (failures.count >= most_failures_as_first) {
        spool_.move_first_to_end();
    }
}

void EventSender::lose(const std::string& why) {
    ++lost_;
    spool_.drop_first();
    if (!why.empty()) say("the API server refuses kube events, which are dropped: " + why);
}

void EventSender::say(const std::string& refusal) {
    if (std::exchange(said_, refusal) != refusal) sys::log::warn(refusal);
}

}  // namespace evictd::publish

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The requests: one at a time for each pod, what their answers mean for it, and when they are sent again.
#include <algorithm>
#include <utility>

#include "evictd/model/text.hpp"
#include "reconcile/pod_status_keeper.hpp"
#include "sys/log.hpp"

namespace evictd::reconcile {
namespace {

using namespace std::chrono_literals;

constexpr Duration time_to_answer = 5s;
// After this the answer is not expected any more, whatever became of it: a request may wait in the client as well.
constexpr Duration longest_wait = 20s;
constexpr Duration first_pause = 1s;
constexpr Duration longest_pause = 30s;
// As the message of an intent that is too old has it.
static_assert(longest_intent == 10min);

}  // namespace

void PodStatusKeeper::send_due() {
    const auto now = clock_.monotonic();
    for (auto& [uid, entry] : entries_) {
        if (entry.step == Step::answered || entry.next_at > now) {
            continue;
        }
        if (entry.step == Step::waiting) {
            advance(entry);
        } else {
            retry(entry, {.result = PodStatusResult::unreachable, .error = "no answer came"});
        }
    }
}

void PodStatusKeeper::advance(Entry& entry) {
    if (!codec::has_api_name(entry.wanted)) {
        return finish(entry, {.result = PodStatusResult::rejected, .error = "its name is not a Kubernetes name"});
    }
    if (options_.dry_run) {
        return pretend(entry);
    }
    const bool looks = !entry.was_looked_at && (entry.is_recovered || (entry.failures.any() && !entry.wanted.given_up));
    send(entry, looks ? codec::pod_request(entry.wanted) : message_for(entry), looks ? Step::looking : Step::sending);
}

// The annotation's value is the attempt's own: sent twice, the second changes nothing.
codec::ApiMessage PodStatusKeeper::message_for(const Entry& entry) const {
    switch (entry.wanted.end) {
        case PodEnd::evicted:
            return codec::eviction_post(entry.wanted, eviction_api_);
        case PodEnd::deleted:
            return codec::pod_deletion(entry.wanted);
        case PodEnd::failed:
            break;
    }
    const auto at = entry.is_recovered ? clock_.wall() : entry.noted_at;
    return codec::status_patch(entry.wanted, at, rfc3339(at) + " " + std::to_string(entry.wanted.attempt));
}

void PodStatusKeeper::send(Entry& entry, codec::ApiMessage message, Step step) {
    const auto now = clock_.monotonic();
    entry.ticket = ++last_ticket_;
    entry.step = step;
    entry.next_at = now + longest_wait;
    entry.sent_at = entry.sent_at.value_or(now);
    port::ApiRequest request{.method = std::move(message.method),
                             .path = std::move(message.path),
                             .content_type = std::move(message.content_type),
                             .body = std::move(message.body),
                             .timeout = time_to_answer,
                             .priority = entry.wanted.can_wait ? port::ApiPriority::other : port::ApiPriority::eviction,
                             .longest_wait = longest_wait - time_to_answer};
    const auto on_reply = [inbox = inbox_, ticket = entry.ticket](const Result<port::ApiReply>& reply) {
        const std::scoped_lock lock(inbox->mutex);
        inbox->answers.push_back({ticket, reply});
        if (inbox->wake) {
            inbox->wake();
        }
    };
    if (!api_.send(std::move(request), on_reply)) {
        retry(entry, {.result = PodStatusResult::unreachable, .error = "too many requests wait for the API server"});
    }
}

void PodStatusKeeper::take_answers() {
    std::vector<Answered> answers;
    {
        const std::scoped_lock lock(inbox_->mutex);
        answers.swap(inbox_->answers);
    }
    for (const auto& [ticket, reply] : answers) {
        const auto found = std::find_if(entries_.begin(), entries_.end(), [&, of = ticket](const auto& row) {
            return row.second.ticket == of && (row.second.step == Step::looking || row.second.step == Step::sending);
        });
        if (found != entries_.end()) {
            on_answer(found->second, reply);
        }
    }
    if (!answers.empty()) {
        persist();
    }
}

void PodStatusKeeper::on_answer(Entry& entry, const Result<port::ApiReply>& reply) {
    const auto answer = read_answer(entry.wanted, reply);
    const bool is_old_server = entry.wanted.end == PodEnd::evicted && answer.is_of_version;
    if (is_old_server && eviction_api_ == codec::EvictionApi::v1) {
        eviction_api_ = codec::EvictionApi::v1beta1;
        return advance(entry);
    }
    if (entry.step == Step::looking && answer.result == PodStatusResult::accepted) {
        return on_look(entry, *reply);
    }
    answer.result == PodStatusResult::unreachable || may_pass(entry, answer) ? retry(entry, answer)
                                                                             : finish(entry, answer);
}

// What an earlier agent noted is kept until it is delivered. Of an eviction that asks for a PodDisruptionBudget the
// policy says how long it may take.
bool PodStatusKeeper::may_pass(Entry& entry, const Answer& answer) const {
    if (!answer.lacks_rights) return false;
    const auto now = clock_.monotonic();
    entry.refused_since = entry.refused_since.value_or(now);
    return entry.is_recovered || now - *entry.refused_since < port::longest_start;
}

void PodStatusKeeper::on_look(Entry& entry, const port::ApiReply& reply) {
    const auto pod = codec::read_pod_in_api(reply.body);
    if (!pod) {
        return retry(entry, {.result = PodStatusResult::unreachable, .error = pod.error().text(), .was_heard = true});
    }
    switch (what_is_left(entry.wanted, *pod, options_.node)) {
        case Left::another_pod:
            return finish(entry, {.result = PodStatusResult::gone, .error = "another pod has its name"});
        case Left::elsewhere:
            return finish(entry, {.result = PodStatusResult::gone, .error = "it is on another node"});
        case Left::delivered:
            return finish(entry, {.result = PodStatusResult::accepted});
        case Left::undelivered:
            break;
    }
    // Its processes ended with that boot. One that failed then may lack the reason.
    if (!entry.boot.empty() && !entry.wanted.given_up && pod->phase != "Failed") {
        return finish(entry, {.result = PodStatusResult::gone, .error = "the node was rebooted since"});
    }
    // Of this boot by a clock that nobody sets.
    const auto age = entry.boot.empty() ? clock_.monotonic() - entry.wanted.decided_at : clock_.wall() - entry.noted_at;
    if (entry.is_recovered && !entry.is_desired && age > longest_intent) {
        return finish(entry, {.result = PodStatusResult::gone,
                              .error = "the pod runs, and the eviction is more than 10 minutes old"});
    }
    entry.was_looked_at = true;
    advance(entry);
}

// Its pod is looked at again before it is sent again: it may have ended meanwhile.
void PodStatusKeeper::retry(Entry& entry, const Answer& answer) {
    options_.counters->count_retry();
    entry.step = Step::waiting;
    entry.was_looked_at = false;
    entry.next_at =
        clock_.monotonic() + std::max(pause_after(entry.failures.add(answer.was_heard)), answer.retry_after);
    if (std::exchange(entry.told_unreachable, true)) {
        return;
    }
    sys::log::warn(text_of(entry.wanted) + ": request failed, retrying: " + answer.error);
    if (entry.is_desired) {
        report(entry, {.error = answer.error, .retry_after = answer.retry_after});
    }
}

Duration PodStatusKeeper::pause_after(std::int32_t failures) {
    const auto pause = back_off(first_pause, longest_pause, failures);
    return pause + (pause / 1024 * static_cast<int>(random_() % 512));
}

}  // namespace evictd::reconcile

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/pod_status_keeper.hpp"

#include <algorithm>

#include "evictd/model/text.hpp"
#include "sys/log.hpp"

namespace evictd::reconcile {
namespace {

using namespace std::chrono_literals;

constexpr Duration request_time = 5s;
// After this the answer is not expected any more, whatever became of it: a request may wait in the client as well.
constexpr Duration longest_answer = 20s;
constexpr Duration first_back_off = 1s;
constexpr int most_refusals = 5;  // half a minute and more, with the pauses in between
constexpr Duration longest_back_off = 30s;
// What an earlier agent noted longer ago is not carried out on a pod that runs: the node was relieved in other ways.
constexpr Duration longest_intent = 10min;

std::string text_of(const DesiredPodStatus& pod) {
    return "pod " + printable(pod.name_space) + "/" + printable(pod.name) + " (" + printable(pod.pod.value) + ")";
}

}  // namespace

PodStatusKeeper::PodStatusKeeper(port::ApiServer& api, const sys::Clock& clock, IntentStore store,
                                 PodStatusOptions options, TellPodStatus tell)
    : api_(api),
      clock_(clock),
      store_(std::move(store)),
      options_(std::move(options)),
      tell_(std::move(tell)),
      random_(std::random_device{}()) {}

void PodStatusKeeper::recover(const std::vector<Intent>& noted) {
    if (options_.dry_run) {
        return;
    }
    for (const auto& [status, noted_at] : noted) {
        sys::log::warn(text_of(status) + ": evicted by an earlier agent, without an answer of the API server");
        Entry entry{.wanted = status, .noted_at = noted_at, .is_recovered = true, .is_desired = false};
        entries_.try_emplace(status.pod, std::move(entry));
    }
    send_due();
    persist();
}

void PodStatusKeeper::connect(std::function<void()> wake) {
    {
        const std::scoped_lock lock(inbox_->mutex);
        inbox_->wake = std::move(wake);
    }
    take_answers();
}

void PodStatusKeeper::release() {
    const std::scoped_lock lock(inbox_->mutex);
    inbox_->wake = nullptr;
}

void PodStatusKeeper::reconcile(const Desired& desired) {
    for (auto& [uid, entry] : entries_) {
        entry.is_desired = false;
    }
    for (const auto& one : desired) {
        want(one);
    }
    std::erase_if(entries_, [this](const auto& row) {
        const auto& [uid, entry] = row;
        const bool withdrawn = !entry.is_desired && (entry.step == Step::answered || !entry.is_recovered);
        if (withdrawn && !options_.dry_run && is_worth_noting(entry.wanted)) {
            store_.forget(uid, entry.wanted.attempt);
        }
        return withdrawn;
    });
    act_on_time();
}

// A newer attempt replaces the older, whose answer does not matter any more.
void PodStatusKeeper::want(const DesiredPodStatus& wanted) {
    const auto [row, is_new] = entries_.try_emplace(wanted.pod);
    auto& entry = row->second;
    const bool is_another = entry.is_recovered && entry.wanted.decided_at != wanted.decided_at;
    if (!is_new && !is_another && entry.wanted.attempt >= wanted.attempt) {
        entry.is_desired = true;
        if (const auto answer = std::exchange(entry.unreported, std::nullopt)) {
            report(entry, *answer);
        }
        return;
    }
    entry = Entry{.wanted = wanted, .noted_at = clock_.wall()};
}

std::optional<MonotonicTime> PodStatusKeeper::due() const {
    std::optional<MonotonicTime> first;
    for (const auto& [uid, entry] : entries_) {
        if (entry.step != Step::answered && (!first || entry.next_at < *first)) {
            first = entry.next_at;
        }
    }
    return first;
}

void PodStatusKeeper::act_on_time() {
    take_answers();
    send_due();
    persist();
}

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
    const bool looks = !entry.was_looked_at && (entry.is_recovered || (entry.failures > 0 && !entry.wanted.given_up));
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
    entry.next_at = now + longest_answer;
    entry.sent_at = entry.sent_at.value_or(now);
    port::ApiRequest request{.method = std::move(message.method),
                             .path = std::move(message.path),
                             .content_type = std::move(message.content_type),
                             .body = std::move(message.body),
                             .timeout = request_time,
                             .priority = port::ApiPriority::eviction};
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
    // A server that has just started refuses everything until it has read the roles.
    const bool may_pass = answer.lacks_rights && is_worth_noting(entry.wanted) &&
                          (entry.is_recovered || entry.refusals++ < most_refusals);
    answer.result == PodStatusResult::unreachable || may_pass ? retry(entry, answer) : finish(entry, answer);
}

void PodStatusKeeper::on_look(Entry& entry, const port::ApiReply& reply) {
    const auto pod = codec::read_pod_in_api(reply.body);
    if (!pod) {
        return retry(entry, {.result = PodStatusResult::unreachable, .error = pod.error().text()});
    }
    switch (what_is_left(entry.wanted, *pod, options_.node)) {
        case Left::another_pod:
            return finish(entry, {.result = PodStatusResult::gone, .error = "another has its name"});
        case Left::elsewhere:
            return finish(entry, {.result = PodStatusResult::gone, .error = "it is on another node"});
        case Left::delivered:
            return finish(entry, {.result = PodStatusResult::accepted});
        case Left::undelivered:
            break;
    }
    if (entry.is_recovered && !entry.is_desired && clock_.wall() - entry.noted_at > longest_intent) {
        return finish(entry, {.result = PodStatusResult::gone, .error = "it runs, and its eviction is too long ago"});
    }
    entry.was_looked_at = true;
    advance(entry);
}

// Its pod is looked at again before it is sent again: it may have ended meanwhile.
void PodStatusKeeper::retry(Entry& entry, const Answer& answer) {
    options_.counters->count_retry();
    entry.step = Step::waiting;
    entry.was_looked_at = false;
    entry.next_at = clock_.monotonic() + std::max(back_off(entry.failures++), answer.retry_after);
    if (std::exchange(entry.told_unreachable, true)) {
        return;
    }
    sys::log::warn(text_of(entry.wanted) + ": no answer of the API server, it is asked again: " + answer.error);
    if (entry.is_desired) {
        report(entry, {.error = answer.error, .retry_after = answer.retry_after});
    }
}

void PodStatusKeeper::finish(Entry& entry, const Answer& answer) {
    entry.step = Step::answered;
    if (entry.is_recovered) {
        sys::log::info(text_of(entry.wanted) + ": what an earlier agent noted is " + std::string(name(answer.result)) +
                       (answer.error.empty() ? "" : ": " + answer.error));
    }
    if (entry.is_desired) {
        report(entry, answer);
    } else {
        entry.unreported = answer;
    }
}

void PodStatusKeeper::pretend(Entry& entry) {
    const auto message = message_for(entry);
    sys::log::info("dry run: " + text_of(entry.wanted) + ": would send " + message.method + " " + message.path + " " +
                   excerpt(message.body, 2000));
    entry.sent_at = clock_.monotonic();
    finish(entry, {.result = PodStatusResult::pretended});
}

void PodStatusKeeper::report(const Entry& entry, const Answer& answer) {
    options_.counters->count(answer.result);
    const auto now = clock_.monotonic();
    tell_({.pod = entry.wanted.pod,
           .attempt = entry.wanted.attempt,
           .end = entry.wanted.end,
           .result = answer.result,
           .sent_at = entry.sent_at.value_or(now),
           .answered_at = now,
           .retry_after = answer.retry_after,
           .error = answer.error});
}

// After the requests were handed over, which a disk must not hold up.
void PodStatusKeeper::persist() {
    options_.counters->set_waiting(static_cast<std::size_t>(std::count_if(
        entries_.begin(), entries_.end(), [](const auto& row) { return row.second.step != Step::answered; })));
    if (options_.dry_run) {
        return;
    }
    std::vector<Intent> unanswered;
    for (const auto& [uid, entry] : entries_) {
        if (entry.step != Step::answered && is_worth_noting(entry.wanted)) {
            unanswered.push_back({entry.wanted, entry.noted_at});
        }
    }
    store_.keep(unanswered);
    for (const auto& [uid, entry] : entries_) {
        if (entry.step == Step::answered) {
            store_.forget(uid, entry.wanted.attempt);
        }
    }
}

Duration PodStatusKeeper::back_off(int failures) {
    const auto pause = std::min(longest_back_off, first_back_off * (1 << std::min(failures, 5)));
    return pause + (pause / 1024 * static_cast<int>(random_() % 512));
}

}  // namespace evictd::reconcile

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/pod_absence.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "codec/api_objects.hpp"
#include "sys/arrivals.hpp"

namespace evictd::reconcile {
namespace {

using namespace std::chrono_literals;
using Replies = sys::Arrivals<Result<port::ApiReply>>;

constexpr Duration longest_request = 5s;
constexpr Duration before_sending = 2s;  // before it is sent: for the rate limit, or a connection
// The sum of both, and a second for the threads. A reply that comes later is ignored.
constexpr Duration longest_answer = 8s;
// How often an agent that ends is looked for.
constexpr Duration end_period = 100ms;
constexpr long no_such_pod = 404;

Result<bool> proves_nothing(const std::string& name, std::string why) {
    return fail(ErrorKind::unreachable, "pod " + name, "whether it is gone is not known: " + std::move(why));
}

Result<bool> read_absence(const DesiredPodStatus& pod, const std::string& name, const Result<port::ApiReply>& reply) {
    if (!reply) return proves_nothing(name, reply.error().text());
    if (reply->accepted()) {
        const auto found = codec::read_pod_in_api(reply->body);
        if (!found) return proves_nothing(name, found.error().text());
        if (found->uid.empty()) return proves_nothing(name, "the API server's answer has no UID");
        // A mirror has another UID than the static pod that it stands for, which is there as long as it is.
        const auto& uid = pod.pod.value;
        return found->uid != uid && found->mirror_of != uid && found->hash_of != uid;
    }
    const auto refusal = codec::read_refusal(reply->body);
    const bool is_about_it = refusal.reason == "NotFound" && refusal.kind == "pods" && refusal.name == pod.name;
    if (reply->status == no_such_pod && is_about_it) return true;
    return proves_nothing(name, "the API server answered " + std::to_string(reply->status) + ": " + refusal.message);
}

}  // namespace

Result<bool> PodAbsence::is_gone(const PodUid& pod, const std::string& name) {
    if (!api_) return proves_nothing(name, "there is no API server");
    const auto slash = name.find('/');
    DesiredPodStatus asked;
    asked.pod = pod;
    asked.name_space = name.substr(0, slash);
    if (slash != std::string::npos) asked.name = name.substr(slash + 1);
    if (!codec::has_api_name(asked)) return proves_nothing(name, "this is not a valid name of a pod");
    const auto message = codec::pod_request(asked);
    const auto replies = std::make_shared<Replies>();
    const bool is_sent = api_->send(
        {.method = message.method, .path = message.path, .timeout = longest_request, .longest_wait = before_sending},
        [replies](const Result<port::ApiReply>& reply) { replies->put(reply); });
    if (!is_sent) return proves_nothing(name, "the API server cannot be asked now");
    for (Duration waited{}; waited < longest_answer && !is_cancelled_; waited += end_period) {
        if (const auto reply = replies->take_within(end_period)) return read_absence(asked, name, *reply);
    }
    return proves_nothing(name, "the API server does not answer");
}

}  // namespace evictd::reconcile

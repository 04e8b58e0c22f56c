// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/api_node.hpp"

#include <algorithm>
#include <utility>

#include "evictd/model/text.hpp"
#include "evictd/model/url.hpp"
#include "evictd/port/api_server.hpp"
#include "kube/pod_text.hpp"
#include "sys/clock.hpp"

namespace evictd::kube {
namespace {

using namespace std::chrono_literals;
using document::Value;

constexpr auto node_server = "API server";
constexpr auto node_rights = "grant watch of nodes";
// As the watch of pods has them.
constexpr auto shortest_node_watch = 300s;
constexpr Duration node_watch_overtime = 30s;
constexpr Duration longest_node_back_off = 60s;
constexpr Duration very_short_node_watch = 1s;
// What is refused stays refused until a person changes the rights.
constexpr Duration refused_period = 10min;
// What a server may ask for with Retry-After.
constexpr Duration longest_node_wait = 5min;
constexpr long forbidden = 403;
// Servers catch up with etcd sooner. What is older for longer comes from an etcd that was restored from a backup.
constexpr Duration longest_older = 10min;

// As the API conventions have it: of one object they may be compared if both are decimal numbers (KEP-5504).
bool is_older(const std::string& version, const std::string& than) {
    const auto is_number = [](const std::string& text) {
        return !text.empty() && text.front() != '0' && text.find_first_not_of("0123456789") == std::string::npos;
    };
    if (!is_number(version) || !is_number(than)) return false;
    return version.size() != than.size() ? version.size() < than.size() : version < than;
}

// nodestatus.ReadyCondition writes what is wrong as an apimachinery Aggregate: one error as it is, several as
// "[first, second]". So the kubelet's word is exactly this, or one of such a list. No more can be proved: errors of the
// container runtime are in the same list, with a text of their own, which may hold ", " too. That it is of Ready, which
// only the kubelet writes, keeps pods out; that it ends (policy/shutdown), a node from never evicting again.
bool says_shutdown(const Value& condition) {
    constexpr std::string_view error = "node is shutting down";
    if (condition["type"].text() != "Ready" || condition["status"].text() != "False") return false;
    if (condition["reason"].text() != "KubeletNotReady") return false;
    const auto message = condition["message"].text().value_or("");
    if (message == error) return true;
    if (!message.starts_with('[') || !message.ends_with(']')) return false;
    const std::string list = ", " + message.substr(1, message.size() - 2) + ", ";
    return list.find(", " + std::string(error) + ", ") != std::string::npos;
}

}  // namespace

NodeView read_node_view(const Value& node) {
    NodeView view;
    for (const auto& taint : node["spec"]["taints"].elements()) {
        view.taints.push_back({.key = taint["key"].text().value_or(""),
                               .value = taint["value"].text().value_or(""),
                               .effect = taint["effect"].text().value_or("")});
    }
    for (const auto& condition : node["status"]["conditions"].elements()) {
        view.shutting_down = view.shutting_down || says_shutdown(condition);
    }
    return view;
}

ApiNode::ApiNode(sys::Lane& lane, ApiConnection& connection, std::string node, ApiNodeTimes times, OnNews on_news)
    : lane_(lane),
      connection_(connection),
      node_(std::move(node)),
      times_(times),
      on_news_(std::move(on_news)),
      pace_(times.first_back_off, longest_node_back_off),
      random_(std::random_device{}()) {}

Status ApiNode::start() {
    auto timer = lane_.loop().add_timer([this] { watch(); });
    if (!timer) return tl::unexpected(timer.error());
    again_ = std::move(*timer);
    auto silence = lane_.loop().add_timer([this] { on_silence(); });
    if (!silence) return tl::unexpected(silence.error());
    silence_ = std::move(*silence);
    watch();
    return {};
}

// Servers up to 1.20 send a bookmark only as a watch ends: another watch, which begins with the object, shows whether
// it is that, or the server that hangs. Whether it is the connection, the watch of the pods finds out, which shares it.
void ApiNode::on_silence() {
    if (!std::exchange(is_probing_, true)) {
        watch();
        if (call_) silence_.arm_in(times_.probe);
        return;
    }
    retry({ErrorKind::unreachable, node_server, "nothing was heard of the node, and another watch of it does not begin",
           ""},
          0s);
}

// Without a version: the server begins with the object in an event of its own, as etcd has it ("get state and start at
// most recent"). Some servers take it from their cache all the same, which may be behind another server's: see
// note_version(). Continued from the last version it would begin with nothing, which is no proof of anything.
void ApiNode::watch() {
    const auto seconds = shortest_node_watch + std::chrono::seconds(random_() % 300);
    watch_began_ = sys::SystemClock().monotonic();
    has_object_ = false;
    splitter_.emplace(ObjectSplitter::Of::stream);
    http::Request request;
    request.path = "/api/v1/nodes?fieldSelector=metadata.name%3D" + url_escaped(node_) +
                   "&watch=true&allowWatchBookmarks=true&timeoutSeconds=" + std::to_string(seconds.count());
    request.timeout = seconds + node_watch_overtime;
    call_.cancel();
    auto call = connection_.start(
        std::move(request), [this](std::string_view piece) { return on_piece(piece); },
        [this](const Result<http::Reply>& reply) { on_ended(reply); }, ApiCounters::Kind::watch);
    if (!call) return retry(call.error(), 0s);
    call_ = std::move(*call);
    silence_.arm_in(times_.silence);
}

Status ApiNode::on_piece(std::string_view piece) {
    auto fed = splitter_->feed(piece, [this](std::string_view text, bool is_whole) -> Status {
        if (!is_whole) return fail(ErrorKind::invalid, node_server, "its node object is too large");
        Status event;
        auto read = read_json(text, node_server, [&](const Value& object) -> Status {
            event = on_event(object);
            return {};
        });
        return read ? event : read;
    });
    if (fed && !piece.empty() && sys::SystemClock().monotonic() - watch_began_ > very_short_node_watch) pace_.reset();
    return fed;
}

Status ApiNode::on_event(const Value& event) {
    const auto type = event["type"].text().value_or("");
    const Value object = event["object"];
    if (type == "ERROR") {
        return fail(ErrorKind::unreachable, node_server,
                    "ended the watch of the node: " + excerpt(object["message"].text().value_or(""), 200));
    }
    // A bookmark says that the object has not changed since this watch had it. Before, it is no proof.
    if (type == "BOOKMARK") {
        if (has_object_) note_heard();
        return {};
    }
    if (object["metadata"]["name"].text() != node_) return {};
    const bool is_there = type == "ADDED" || type == "MODIFIED";
    if (!is_there && type != "DELETED") return {};
    if (auto noted = note_version(object["metadata"]["resourceVersion"].text().value_or("")); !noted) return noted;
    if (is_there) {
        has_object_ = true;
        view_ = read_node_view(object);
        view_->current = true;
    } else {
        has_object_ = false;
        view_.reset();
    }
    note_heard();
    return {};
}

// A taint that was lifted must not come back: it may cost a pod its life.
Status ApiNode::note_version(const std::string& version) {
    const auto now = sys::SystemClock().monotonic();
    if (is_older(version, version_)) {
        older_since_ = older_since_.value_or(now);
        if (now - *older_since_ < longest_older) {
            return fail(ErrorKind::unreachable, node_server, "its node object is older than what was seen before");
        }
    }
    older_since_.reset();
    version_ = version;
    return {};
}

void ApiNode::note_heard() {
    fault_.reset();
    refused_since_.reset();
    is_probing_ = false;
    silence_.arm_in(times_.silence);
    if (view_) view_->heard_at = sys::SystemClock().monotonic();
    on_news_();
}

// A server that has just started may forbid what it will allow.
bool ApiNode::is_refused(long status) {
    if (status != forbidden) return false;
    const auto now = sys::SystemClock().monotonic();
    refused_since_ = refused_since_.value_or(now);
    return now - *refused_since_ >= port::longest_start;
}

void ApiNode::on_ended(const Result<http::Reply>& reply) {
    if (!reply) return retry(reply.error(), 0s);
    if (!reply->accepted()) {
        const Duration asked = std::min<Duration>(longest_node_wait, reply->retry_after.value_or(0s));
        return retry(refusal(node_server, *reply, node_rights), is_refused(reply->status) ? refused_period : asked);
    }
    if (sys::SystemClock().monotonic() - watch_began_ < very_short_node_watch) {
        return retry({ErrorKind::unreachable, node_server, "ended the watch of the node at once", ""}, 0s);
    }
    watch();
}

// What was heard last stays, and is said to be old. Credentials and certificates are read again: they may have been
// replaced.
void ApiNode::retry(Error why, Duration at_least) {
    const bool was_heard = call_.was_heard();
    call_.cancel();
    silence_.disarm();
    is_probing_ = false;
    connection_.read_access_again();
    const bool is_news = !fault_ || fault_->text() != why.text();
    fault_ = std::move(why);
    if (view_) view_->current = false;
    again_.arm_in(std::max(at_least, pace_.after_failure(was_heard)));
    if (is_news) on_news_();
}

}  // namespace evictd::kube

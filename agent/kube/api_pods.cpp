// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/api_pods.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "evictd/model/text.hpp"
#include "evictd/model/url.hpp"
#include "kube/pod_text.hpp"
#include "sys/clock.hpp"

namespace evictd::kube {
namespace {

using namespace std::chrono_literals;
using document::Value;

constexpr auto api_server = "API server";
constexpr auto api_rights = "grant list and watch of pods";
// Pages as client-go's. With a version the list comes whole: with both, servers list what was at that version exactly.
constexpr auto page = "&limit=500";
// The Reflector's: a server that ends a watch is asked again, and thousands of agents not at the same time.
constexpr auto shortest_watch = 300s;
// How much longer than it was asked to the server may keep a watch open.
constexpr Duration watch_overtime = 30s;
constexpr Duration longest_back_off = 30s;
// For the answer to another watch after a silence.
constexpr Duration longest_probe = 10s;
// What a server may ask for with Retry-After.
constexpr Duration longest_wait = 5min;
// A watch that ends sooner was refused in fact.
constexpr Duration very_short_watch = 1s;

}  // namespace

ApiPods::ApiPods(sys::Lane& lane, ApiConnection& connection, std::string node, ApiPodsTimes times, OnNews on_news)
    : lane_(lane),
      connection_(connection),
      node_(std::move(node)),
      times_(times),
      on_news_(std::move(on_news)),
      pace_(times.first_back_off, longest_back_off),
      random_(std::random_device{}()) {}

bool ApiPods::may_be_the_version(long status) {
    constexpr std::array<long, 4> doubted{400, 410, 500, 504};
    return std::find(doubted.begin(), doubted.end(), status) != doubted.end();
}

Status ApiPods::start() {
    auto timer = lane_.loop().add_timer([this] { is_listed_ && !relist_ ? watch() : begin_list(); });
    if (!timer) return tl::unexpected(timer.error());
    again_ = std::move(*timer);
    auto silence = lane_.loop().add_timer([this] { on_silence(); });
    if (!silence) return tl::unexpected(silence.error());
    silence_ = std::move(*silence);
    begin_list();
    return {};
}

void ApiPods::request(const std::string& query, Duration timeout, http::Client::OnData on_data,
                      http::Client::OnDone on_done, ApiCounters::Kind kind) {
    http::Request request;
    request.path = "/api/v1/pods?fieldSelector=spec.nodeName%3D" + url_escaped(node_) + query;
    request.timeout = timeout;
    call_.cancel();
    auto call = connection_.start(std::move(request), std::move(on_data), std::move(on_done), kind);
    if (!call) return retry(call.error(), {});
    call_ = std::move(*call);
}

void ApiPods::on_silence() {
    if (in_list_) {  // a server older than 1.19 ignores the request for a streaming list, and sends no end
        has_streaming_list_ = false;
        return retry({ErrorKind::unreachable, api_server, "the list of pods was incomplete after 30 seconds", ""}, {});
    }
    // Servers up to 1.20 send a bookmark only as a watch ends: another watch on the same connection shows whether it is
    // that, or the server or the connection that hangs. A server, or a proxy before it, that accepts each watch and
    // sends nothing shows by a list whether pods changed meanwhile.
    if (!is_probing_ && is_quiet()) {
        relist_ = true;
        return begin_list();
    }
    if (!std::exchange(is_probing_, true)) {
        watch();
        if (call_) silence_.arm_in(longest_probe);
        return;
    }
    connection_.replace();
    retry({ErrorKind::unreachable, api_server, "nothing was heard of it for 3 minutes", ""}, {});
}

// A streaming list (KEP-3157, on by default from Kubernetes 1.34): a watch that begins with the pods that exist. The
// server encodes one pod at a time and needs one request instead of two. Servers without it refuse resourceVersionMatch
// for a watch, or sendInitialEvents, with 422.
void ApiPods::begin_list() {
    if (!has_streaming_list_ || !continue_.empty()) return list();
    listing_ = {};
    in_list_ = true;
    const auto version = list_version_.empty() ? "" : "&resourceVersion=" + list_version_;
    stream("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan" + version);
    if (call_) silence_.arm_in(times_.list_timeout);
}

// The rest of a streaming list's stream is the watch.
void ApiPods::end_list() {
    in_list_ = false;
    known_ = std::exchange(listing_, {});
    is_listed_ = true;
    relist_ = false;
    list_version_ = resource_version_;
    note_heard();
}

void ApiPods::list() {
    if (continue_.empty()) listing_ = {};
    splitter_.emplace(ObjectSplitter::Of::items);
    const bool is_whole = !list_version_.empty() && list_version_ != "0";
    const auto from = continue_.empty() ? "&resourceVersion=" + list_version_ : "&continue=" + url_escaped(continue_);
    request((is_whole ? "" : page) + from, times_.list_timeout,
            [this](std::string_view piece) { return on_items(piece); },
            [this](const Result<http::Reply>& reply) { on_listed(reply); });
}

Status ApiPods::on_items(std::string_view piece) {
    return splitter_->feed(piece, [this](std::string_view text, bool is_whole) {
        return take_item(text, is_whole, PodSender::api_server, known_, listing_,
                         [this](const Pod& pod) { return check_node(pod); });
    });
}

// A version that is too old for the server, or not yet known to it, is not requested again: the next list is the
// newest, which costs the server a consistent read.
void ApiPods::on_listed(const Result<http::Reply>& reply) {
    if (!reply) return retry(reply.error(), {});
    if (!reply->accepted()) {
        if (may_be_the_version(reply->status)) list_version_ = "";
        continue_ = "";
        return retry(refusal(api_server, *reply, api_rights), reply->retry_after);
    }
    auto checked = check_list(*splitter_, api_server, [this](const Value& metadata) {
        resource_version_ = metadata["resourceVersion"].text().value_or("");
        continue_ = metadata["continue"].text().value_or("");
    });
    if (!checked) return retry(checked.error(), {});
    if (!continue_.empty()) return list();
    end_list();
    on_news_(true);
    watch();
}

void ApiPods::watch() { stream("&resourceVersion=" + resource_version_); }

void ApiPods::stream(const std::string& from) {
    const auto seconds = shortest_watch + std::chrono::seconds(random_() % 300);
    watch_began_ = sys::SystemClock().monotonic();
    is_answered_ = false;
    splitter_.emplace(ObjectSplitter::Of::stream);
    request(
        "&watch=true&allowWatchBookmarks=true" + from + "&timeoutSeconds=" + std::to_string(seconds.count()),
        seconds + watch_overtime, [this](std::string_view piece) { return on_piece(piece); },
        [this](const Result<http::Reply>& reply) { on_watch_ended(reply); }, ApiCounters::Kind::watch);
}

Status ApiPods::on_piece(std::string_view piece) {
    bool changed = false;
    if (!in_list_) {
        changed = fault_.has_value();
        note_answered();
    }
    // A server that accepts a watch and ends it at once is asked less and less often.
    if (!piece.empty() && sys::SystemClock().monotonic() - watch_began_ > very_short_watch) pace_.reset();
    auto fed = splitter_->feed(
        piece, [&](std::string_view text, bool is_whole) { return on_event_text(text, is_whole, changed); });
    if (!in_list_) on_news_(changed);
    return fed;
}

// A refused version is not requested again, as in on_listed().
void ApiPods::on_list_refused(const http::Reply& reply) {
    if (reply.status == 400 || reply.status == 422) {
        has_streaming_list_ = false;
        in_list_ = false;
        silence_.disarm();  // the list's requests have their own timeout
        return list();
    }
    if (may_be_the_version(reply.status)) list_version_ = "";
    retry(refusal(api_server, reply, api_rights), reply.retry_after);
}

void ApiPods::on_watch_ended(const Result<http::Reply>& reply) {
    if (in_list_ && reply && !reply->accepted()) return on_list_refused(*reply);
    relist_ = relist_ || (is_answered_ && is_quiet());  // accepted and ended, and nothing between
    if (reply && !reply->accepted()) {
        // Else the version is at fault, or may be: a list shows. One for each refusal would be a load for a server that
        // is busy, or has given no rights.
        constexpr std::array<long, 3> not_the_version{401, 403, 429};
        relist_ = relist_ ||
                  std::find(not_the_version.begin(), not_the_version.end(), reply->status) == not_the_version.end();
        return retry(refusal(api_server, *reply, api_rights), reply->retry_after);
    }
    if (!reply) return retry(reply.error(), {});
    if (in_list_) return retry({ErrorKind::unreachable, api_server, "the list of pods is incomplete", ""}, {});
    if (sys::SystemClock().monotonic() - watch_began_ < very_short_watch) {
        return retry({ErrorKind::unreachable, api_server, "ended the watch at once", ""}, {});
    }
    relist_ ? begin_list() : watch();
}

bool ApiPods::is_quiet() const {
    return heard_at_ && sys::SystemClock().monotonic() - *heard_at_ >= times_.longest_quiet;
}

void ApiPods::note_heard() {
    heard_at_ = sys::SystemClock().monotonic();
    note_answered();
}

// By headers, or bytes that are no event: they put a silence off, and not for longer than longest_quiet. A watch that
// is accepted after an outage has one silence to show what it has.
void ApiPods::note_answered() {
    is_answered_ = true;
    fault_.reset();
    is_probing_ = false;
    const auto quiet_until =
        std::max(heard_at_.value_or(watch_began_) + times_.longest_quiet, watch_began_ + times_.longest_silence);
    silence_.arm(std::min(sys::SystemClock().monotonic() + times_.longest_silence, quiet_until));
}

// Credentials and certificates are read again: they may have been replaced.
void ApiPods::retry(Error why, std::optional<std::chrono::seconds> wait) {
    const bool was_heard = call_.was_heard();
    call_.cancel();
    silence_.disarm();
    in_list_ = false;
    is_probing_ = false;
    connection_.read_access_again();
    const bool is_news = !fault_ || fault_->text() != why.text();
    fault_ = std::move(why);
    again_.arm_in(std::max(pace_.after_failure(was_heard), std::min<Duration>(longest_wait, wait.value_or(0s))));
    if (is_news) on_news_(true);
}

}  // namespace evictd::kube

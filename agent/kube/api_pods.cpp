// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/api_pods.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "evictd/model/text.hpp"
#include "kube/pod_text.hpp"
#include "sys/clock.hpp"

namespace evictd::kube {
namespace {

using namespace std::chrono_literals;
using document::Value;

constexpr auto api_server = "API server";
constexpr auto api_rights = "grant list and watch of pods";
constexpr Duration list_timeout = 30s;
// Pages as client-go's. With a version the list comes whole: with both, servers list what was at that version exactly.
constexpr auto page = "&limit=500";
// The Reflector's: a server that ends a watch is asked again, and thousands of agents not at the same time.
constexpr auto shortest_watch = 300s;
// How much longer than it was asked to the server may keep a watch open.
constexpr Duration watch_overtime = 30s;
constexpr Duration longest_back_off = 30s;
// The server sends a bookmark about once a minute: three that do not come are a server that hangs.
constexpr Duration longest_silence = 180s;
// What a server may ask for with Retry-After.
constexpr Duration longest_wait = 5min;
// A watch that ends sooner was refused in fact.
constexpr Duration very_short_watch = 1s;

// RFC 3986.
std::string escaped(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string all;
    for (const char c : text) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (is_letter || c == '-' || c == '.' || c == '_' || c == '~') {
            all += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            all += '%';
            all += digits[byte >> 4U];
            all += digits[byte & 15U];
        }
    }
    return all;
}

std::string version_of(const Value& object) { return object["metadata"]["resourceVersion"].text().value_or(""); }

}  // namespace

ApiPods::ApiPods(sys::Lane& lane, ApiConnection& connection, std::string node, Duration first_back_off, OnNews on_news)
    : lane_(lane),
      connection_(connection),
      node_(std::move(node)),
      first_back_off_(first_back_off),
      on_news_(std::move(on_news)),
      random_(std::random_device{}()) {}

Status ApiPods::start() {
    auto timer = lane_.loop().add_timer([this] { is_listed_ && !relist_ ? watch() : list(); });
    if (!timer) return tl::unexpected(timer.error());
    again_ = std::move(*timer);
    auto silence = lane_.loop().add_timer([this] { on_silence(); });
    if (!silence) return tl::unexpected(silence.error());
    silence_ = std::move(*silence);
    list();
    return {};
}

void ApiPods::request(const std::string& query, Duration timeout, HttpClient::OnData on_data,
                      HttpClient::OnDone on_done, ApiCounters::Kind kind) {
    HttpRequest request;
    request.path = "/api/v1/pods?fieldSelector=spec.nodeName%3D" + escaped(node_) + query;
    request.timeout = timeout;
    call_.cancel();
    auto call = connection_.start(std::move(request), std::move(on_data), std::move(on_done), kind);
    if (!call) return retry(call.error(), {});
    call_ = std::move(*call);
}

void ApiPods::on_silence() {
    connection_.replace();
    retry({ErrorKind::unreachable, api_server, "nothing was heard of it for 3 minutes", ""}, {});
}

void ApiPods::list() {
    if (continue_.empty()) listing_ = {};
    splitter_.emplace(ObjectSplitter::Of::items);
    const bool is_whole = !list_version_.empty() && list_version_ != "0";
    const auto from = continue_.empty() ? "&resourceVersion=" + list_version_ : "&continue=" + escaped(continue_);
    request((is_whole ? "" : page) + from, list_timeout, [this](std::string_view piece) { return on_items(piece); },
            [this](const Result<HttpReply>& reply) { on_listed(reply); });
}

Status ApiPods::on_items(std::string_view piece) {
    return splitter_->feed(piece, [this](std::string_view text, bool is_whole) {
        return take_item(text, is_whole, PodSender::api_server, known_, listing_,
                         [this](const Pod& pod) { return check_node(pod); });
    });
}

// A version that is too old for the server, or not yet known to it, is not asked for again: the next list is the
// newest, which costs the server a consistent read.
void ApiPods::on_listed(const Result<HttpReply>& reply) {
    if (!reply) return retry(reply.error(), {});
    if (!reply->accepted()) {
        constexpr std::array<long, 3> unknown_version{400, 410, 504};
        if (std::find(unknown_version.begin(), unknown_version.end(), reply->status) != unknown_version.end()) {
            list_version_ = "";
        }
        continue_ = "";
        return retry(refusal(api_server, *reply, api_rights), reply->retry_after);
    }
    auto checked = check_list(*splitter_, api_server, [this](const Value& metadata) {
        resource_version_ = metadata["resourceVersion"].text().value_or("");
        continue_ = metadata["continue"].text().value_or("");
    });
    if (!checked) return retry(checked.error(), {});
    if (!continue_.empty()) return list();
    known_ = std::exchange(listing_, {});
    is_listed_ = true;
    relist_ = false;
    list_version_ = resource_version_;
    note_heard();
    on_news_(true);
    watch();
}

void ApiPods::watch() {
    const auto now = sys::SystemClock().monotonic();
    const auto seconds = shortest_watch + std::chrono::seconds(random_() % 300);
    watch_began_ = now;
    splitter_.emplace(ObjectSplitter::Of::stream);
    request(
        "&watch=true&allowWatchBookmarks=true&resourceVersion=" + resource_version_ +
            "&timeoutSeconds=" + std::to_string(seconds.count()),
        seconds + watch_overtime, [this](std::string_view piece) { return on_piece(piece); },
        [this](const Result<HttpReply>& reply) { on_watch_ended(reply); }, ApiCounters::Kind::watch);
}

Status ApiPods::on_piece(std::string_view piece) {
    const bool is_news = fault_.has_value();
    note_heard();
    // A server that accepts a watch and ends it at once is asked less and less often.
    if (!piece.empty() && sys::SystemClock().monotonic() - watch_began_ > very_short_watch) failures_ = 0;
    bool changed = is_news;
    auto fed = splitter_->feed(
        piece, [&](std::string_view text, bool is_whole) { return on_event_text(text, is_whole, changed); });
    on_news_(changed);
    return fed;
}

// An event that cannot be read is its pod's: the watch goes on after it, or it would never come any further.
Status ApiPods::on_event_text(std::string_view text, bool is_whole, bool& changed) {
    std::string why = "it is too large";
    if (is_whole) {
        Status event;
        auto read = read_json(text, api_server, [&](const Value& object) -> Status {
            event = on_event(object, changed);
            return {};
        });
        if (read) return event;
        why = read.error().why;
    }
    const auto head = head_of(text);
    if (head.uid.empty()) return fail(ErrorKind::invalid, api_server, why);
    if (text.starts_with(R"({"type":"DELETED")")) {
        known_.pods.erase(head.uid);
        known_.rejected.erase(head.uid);
    } else {
        reject_pod(head, why, known_, known_);
    }
    changed = true;
    note_version(head.version);
    return {};
}

void ApiPods::note_version(const std::string& version) {
    if (!version.empty()) resource_version_ = list_version_ = version;
}

Status ApiPods::on_event(const Value& event, bool& changed) {
    const auto type = event["type"].text().value_or("");
    const Value object = event["object"];
    if (type == "ERROR") {
        relist_ = true;  // 410, as a rule: what was watched is too old for the server
        return fail(ErrorKind::unreachable, api_server,
                    "ended the watch: " + excerpt(object["message"].text().value_or(""), 200));
    }
    if (type == "ADDED" || type == "MODIFIED") {
        take(known_, object);
        changed = true;
    } else if (type == "DELETED") {
        const auto uid = object["metadata"]["uid"].text().value_or("");
        known_.pods.erase(uid);
        known_.rejected.erase(uid);
        changed = true;
    }
    note_version(version_of(object));
    return {};
}

void ApiPods::on_watch_ended(const Result<HttpReply>& reply) {
    if (reply && !reply->accepted()) {
        // Else the version is at fault, or may be: a list shows. One for each refusal would be a load for a server that
        // is busy, or has given no rights.
        constexpr std::array<long, 3> not_the_version{401, 403, 429};
        relist_ = relist_ ||
                  std::find(not_the_version.begin(), not_the_version.end(), reply->status) == not_the_version.end();
        return retry(refusal(api_server, *reply, api_rights), reply->retry_after);
    }
    if (!reply) return retry(reply.error(), {});
    if (sys::SystemClock().monotonic() - watch_began_ < very_short_watch) {
        return retry({ErrorKind::unreachable, api_server, "ended the watch at once", ""}, {});
    }
    watch();
}

void ApiPods::take(ClusterPodList& into, const Value& object) {
    take_pod(object, PodSender::api_server, known_, into, [this](const Pod& pod) { return check_node(pod); });
}

Status ApiPods::check_node(const Pod& pod) const {
    if (pod.node_name == node_) return {};
    return fail(ErrorKind::invalid, "pod " + pod.full_name(), "is on another node, and was not asked for");
}

void ApiPods::note_heard() {
    heard_at_ = sys::SystemClock().monotonic();
    fault_.reset();
    silence_.arm_in(longest_silence);
}

// Credentials and certificates are read again: they may have been replaced.
void ApiPods::retry(Error why, std::optional<std::chrono::seconds> wait) {
    call_.cancel();
    silence_.disarm();
    connection_.read_access_again();
    const bool is_news = !fault_ || fault_->text() != why.text();
    fault_ = std::move(why);
    again_.arm_in(std::max(back_off(), std::min<Duration>(longest_wait, wait.value_or(0s))));
    if (is_news) on_news_(true);
}

Duration ApiPods::back_off() {
    const auto pause = std::min(longest_back_off, first_back_off_ * (1 << std::min(failures_++, 6)));
    const double more = static_cast<double>(random_() % 1024) / 1024;
    return pause + std::chrono::duration_cast<Duration>(pause * more);
}

}  // namespace evictd::kube

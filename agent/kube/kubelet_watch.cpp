// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/kubelet_watch.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "evictd/model/back_off.hpp"
#include "evictd/model/text.hpp"
#include "http/grpc_status.hpp"
#include "http/trusted_socket.hpp"
#include "http/wire_reader.hpp"
#include "kube/pod_protobuf.hpp"
#include "sys/clock.hpp"

namespace evictd::kube {
namespace {

constexpr auto pods_api = "kubelet's Pods API";
constexpr auto method = "/v1alpha1.Pods/WatchPods";

// EventType of api.proto. A later one is no reason to end the watch: what it tells of is read again with the next
// resync.
enum class Event : std::uint64_t { unspecified, added, modified, deleted, initial_sync_complete };

// Of a stream that ended: a watch has no end of its own.
Error end_of(const http::Reply& reply) {
    std::string why = "ended the watch";
    if (!reply.accepted()) {
        why = "refused: " + std::to_string(reply.status);
    } else if (reply.grpc_status && *reply.grpc_status != 0) {
        why = "refused: " + http::grpc_code_text(*reply.grpc_status);
        if (!reply.grpc_message.empty()) why += ": " + excerpt(reply.grpc_message, 200);
    }
    return {ErrorKind::unreachable, pods_api, std::move(why), ""};
}

// kubetypes.ConfigSourceAnnotationKey: without it the origin of a pod would be a guess.
bool says_its_source(const document::Value& pod) {
    return pod["metadata"]["annotations"]["kubernetes.io/config.source"].present();
}

}  // namespace

KubeletWatch::KubeletWatch(sys::Lane& lane, std::string socket, KubeletWatchTimes times, OnChange on_change)
    : lane_(lane), socket_(std::move(socket)), times_(times), on_change_(std::move(on_change)) {}

Status KubeletWatch::start() {
    auto timer = lane_.loop().add_timer([this] { on_time(); });
    if (!timer) return tl::unexpected(timer.error());
    timer_ = std::move(*timer);
    begin();
    return {};
}

void KubeletWatch::set_alone(bool is_alone) {
    is_alone_ = is_alone;
    if (!is_alone && is_live_ && !in_list_ && std::exchange(keeps_missing_, false)) timer_.arm_in({});
}

void KubeletWatch::on_time() {
    if (!in_list_) return begin();
    fail_with({ErrorKind::unreachable, pods_api,
               "its list of pods is incomplete after " + span_text(times_.list_timeout), ""});
}

// The connection is a new one each time: of a kubelet that was started again, the socket is another.
void KubeletWatch::begin() {
    call_.reset();
    const auto there = http::has_trusted_socket(socket_);
    if (!there) return fail_with(there.error());
    if (!*there) {
        failures_ = 0;
        return end({}, times_.absent);
    }
    if (auto opened = open(); !opened) return fail_with(opened.error());
}

Status KubeletWatch::open() {
    auto client = http::Client::make(lane_.loop(), {.url = "http://kubelet", .tls = {}, .unix_socket = socket_});
    if (!client) return tl::unexpected(client.error());
    client_ = std::move(*client);
    messages_ = http::GrpcMessages();
    auto call = client_->start(
        http::grpc_request(method, {}), [this](std::string_view piece) { return on_piece(piece); },
        [this](const Result<http::Reply>& reply) { on_done(reply); });
    if (!call) return tl::unexpected(call.error());
    call_ = std::move(*call);
    listing_ = {};
    in_list_ = true;
    timer_.arm_in(times_.list_timeout);
    return {};
}

Status KubeletWatch::on_piece(std::string_view piece) {
    if (piece.empty()) return {};
    bool changed = false;
    auto fed = messages_.feed(piece, [&](std::string_view message, bool is_whole) {
        changed = true;
        return on_message(message, is_whole);
    });
    if (fed && changed && !in_list_) {
        heard_at_ = sys::SystemClock().monotonic();
        on_change_();
    }
    return fed;
}

// WatchPodsEvent. Of one that is too large, the pod's head.
Status KubeletWatch::on_message(std::string_view message, bool is_whole) {
    std::uint64_t type = 0;
    std::string_view pod;
    http::WireReader reader(message, is_whole ? http::WireReader::Of::whole : http::WireReader::Of::beginning);
    for (auto field = reader.next();; field = reader.next()) {
        if (!field) return fail(ErrorKind::invalid, pods_api, "sent an event that " + field.error().why);
        if (!*field) break;
        if ((*field)->number == 1 && (*field)->type == http::WireField::Type::varint) type = (*field)->varint;
        if ((*field)->number == 2 && (*field)->type == http::WireField::Type::bytes) pod = (*field)->bytes;
    }
    switch (static_cast<Event>(type)) {
        case Event::added:
        case Event::modified:
            return on_pod(pod, is_whole);
        case Event::deleted:
            return forget(pod);
        case Event::initial_sync_complete:
            if (in_list_) end_list();
            return {};
        case Event::unspecified:
            return fail(ErrorKind::invalid, pods_api, "sent an event without a type", "its version is not known here");
        default:
            return {};
    }
}

Status KubeletWatch::on_pod(std::string_view bytes, bool is_whole) {
    const auto head = protobuf_head_of(bytes);
    if (head.uid.empty()) return fail(ErrorKind::invalid, pods_api, "sent a pod without a UID");
    auto document = is_whole ? read_protobuf_pod(bytes)
                             : Result<document::Document>(fail(ErrorKind::invalid, "Pod", "it is too large"));
    if (!document) {
        reject_pod(head, document.error().why, known_, current());
        return {};
    }
    document::Reading reading(std::move(*document), pods_api);
    if (!says_its_source(reading.root())) {
        return fail(ErrorKind::invalid, pods_api, "does not say where a pod comes from");
    }
    take_pod(reading.root(), PodSender::kubelet, known_, current());
    return {};
}

// Of a deleted pod there are only namespace, name and UID (PodsServer.OnPodRemoved).
Status KubeletWatch::forget(std::string_view bytes) {
    const auto uid = protobuf_head_of(bytes).uid;
    if (uid.empty()) return fail(ErrorKind::invalid, pods_api, "sent a deleted pod without a UID");
    current().pods.erase(uid);
    current().rejected.erase(uid);
    return {};
}

void KubeletWatch::end_list() {
    in_list_ = false;
    const auto listed = listing_.pods.size();
    if (is_alone_) listing_.pods.merge(known_.pods);
    keeps_missing_ = listing_.pods.size() > listed;
    known_ = std::exchange(listing_, {});
    if (!std::exchange(is_live_, true)) live_since_ = sys::SystemClock().monotonic();
    is_first_ = false;
    fault_.reset();
    timer_.arm_in(times_.resync);
}

void KubeletWatch::on_done(const Result<http::Reply>& reply) {
    if (!reply) return fail_with({reply.error().kind, pods_api, reply.error().why, reply.error().remedy});
    fail_with(end_of(*reply));
}

void KubeletWatch::fail_with(Error why) {
    if (is_live_ && sys::SystemClock().monotonic() - live_since_ >= times_.steady) failures_ = 0;
    end(std::move(why), back_off(times_.first_back_off, Duration::max(), ++failures_));
}

void KubeletWatch::end(std::optional<Error> why, Duration pause) {
    call_.reset();
    in_list_ = false;
    const bool is_same = fault_.has_value() == why.has_value() && (!why || fault_->text() == why->text());
    const bool was_live = std::exchange(is_live_, false);
    const bool is_first = std::exchange(is_first_, false);
    fault_ = std::move(why);
    timer_.arm_in(pause);
    if (was_live || is_first || !is_same) on_change_();
}

}  // namespace evictd::kube

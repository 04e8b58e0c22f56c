// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/kubelet_pods.hpp"

#include <algorithm>
#include <utility>

#include "sys/clock.hpp"

namespace evictd::kube {
namespace {

using namespace std::chrono_literals;

constexpr auto kubelet = "kubelet";
constexpr auto kubelet_rights = "grant get of nodes/pods; of nodes/proxy before Kubernetes 1.33";
constexpr Duration pause_after_a_fault = 10s;
constexpr Duration pause_before_asking = 1s;
constexpr Duration timeout = 10s;

}  // namespace

KubeletPods::KubeletPods(sys::Lane& lane, KubeletAddress address, AccessSource& access, OnChange on_change)
    : lane_(lane),
      address_(std::move(address)),
      access_(access),
      on_change_(std::move(on_change)),
      period_(pause_after_a_fault) {}

Status KubeletPods::start() {
    auto timer = lane_.loop().add_timer([this] { ask(); });
    if (!timer) return tl::unexpected(timer.error());
    again_ = std::move(*timer);
    return {};
}

// Not pushed back by further calls.
void KubeletPods::ask_soon() {
    const auto at = sys::SystemClock().monotonic() + pause_before_asking;
    if (call_ || at >= next_ask_) return;
    next_ask_ = at;
    again_.arm(next_ask_);
}

// From now on, not from the last request: when the API server goes, all agents of a cluster see it at the same moment,
// and each kubelet asks it about the token.
void KubeletPods::set_period(Duration period, bool is_alone) {
    period_ = period;
    keeps_missing_ = is_alone;
    const auto at = sys::SystemClock().monotonic() + period;
    if (next_ask_ == MonotonicTime::max() || at >= next_ask_) return;
    next_ask_ = at;
    again_.arm(next_ask_);
}

void KubeletPods::pause() {
    call_.reset();
    next_ask_ = MonotonicTime::max();
    again_.disarm();
}

void KubeletPods::adopt(const ClusterPodList& list) {
    known_ = list;
    is_listed_ = true;
}

void KubeletPods::resume() {
    const auto now = sys::SystemClock().monotonic();
    const auto pause = std::min(period_, pause_after_a_fault);
    if (!asked_at_ || now - *asked_at_ >= pause) return ask();
    next_ask_ = *asked_at_ + pause;
    again_.arm(next_ask_);
}

void KubeletPods::ask() {
    asked_at_ = sys::SystemClock().monotonic();
    next_ask_ = MonotonicTime::max();
    if (auto sent = send(); !sent) on_done(tl::unexpected(sent.error()));
}

// Its certificate is read for each request: a kubelet replaces its own.
Status KubeletPods::open(const ApiAccess& access) {
    http::Tls tls = access.server.tls;
    tls.server_name = address_.name;
    auto trusted = read_trusted_file(address_.ca_file);
    if (!trusted) return tl::unexpected(trusted.error());
    tls.trusted = std::move(*trusted);
    if (client_) {
        client_->set_tls(std::move(tls));
        return {};
    }
    auto client = http::Client::make(lane_.loop(), {.url = address_.url, .tls = std::move(tls)});
    if (!client) return tl::unexpected(client.error());
    client_ = std::move(*client);
    return {};
}

Status KubeletPods::send() {
    const auto access = access_.get();
    if (!access) return tl::unexpected(access.error());
    if (auto opened = open(**access); !opened) return opened;
    auto token = current_token(**access);
    if (!token) return tl::unexpected(token.error());
    listing_ = {};
    splitter_.emplace(ObjectSplitter::Of::items);
    auto call = client_->start(
        {.path = "/pods", .content_type = {}, .body = {}, .bearer_token = std::move(*token), .timeout = timeout},
        [this](std::string_view piece) { return on_items(piece); },
        [this](const Result<http::Reply>& reply) { on_done(reply); });
    if (!call) return tl::unexpected(call.error());
    call_ = std::move(*call);
    return {};
}

Status KubeletPods::on_items(std::string_view piece) {
    return splitter_->feed(piece, [this](std::string_view text, bool is_whole) {
        return take_item(text, is_whole, PodSender::kubelet, known_, listing_);
    });
}

Status KubeletPods::finish(const Result<http::Reply>& reply) {
    if (!reply) return tl::unexpected(reply.error());
    if (!reply->accepted()) return tl::unexpected(refusal(kubelet, *reply, kubelet_rights));
    return check_list(*splitter_, kubelet);
}

void KubeletPods::on_done(const Result<http::Reply>& reply) {
    auto done = finish(reply);
    call_.reset();
    bool is_news = true;  // the same fault again is not
    if (done) {
        if (keeps_missing_) listing_.pods.merge(known_.pods);
        known_ = std::exchange(listing_, {});
        is_listed_ = true;
        heard_at_ = sys::SystemClock().monotonic();
        fault_.reset();
    } else {
        is_news = !fault_ || fault_->text() != done.error().text();
        fault_ = done.error();
    }
    next_ask_ = sys::SystemClock().monotonic() + (done ? period_ : std::min(period_, pause_after_a_fault));
    again_.arm(next_ask_);
    if (is_news) on_change_();
}

}  // namespace evictd::kube

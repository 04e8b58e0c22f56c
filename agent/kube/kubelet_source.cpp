// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/kubelet_source.hpp"

#include <utility>

namespace evictd::kube {

PodSourceState state_of(std::string name, std::optional<MonotonicTime> heard_at, const std::optional<Error>& fault) {
    PodSourceState state{.name = std::move(name), .heard_at = heard_at, .fault = {}};
    if (fault) state.fault = fault->why + (fault->remedy.empty() ? "" : " (" + fault->remedy + ")");
    return state;
}

KubeletSource::KubeletSource(sys::Lane& lane, const KubeletAddress& address, AccessSource& access, OnChange on_change,
                             KubeletWatchTimes times)
    : on_change_(std::move(on_change)), url_(address.url), polls_(lane, address, access, [this] { on_polled(); }) {
    if (!address.pods_socket.empty()) watch_.emplace(lane, address.pods_socket, times, [this] { on_watch(); });
}

// Before the watch has its answer /pods is not asked: it would cost the kubelet, and the API server, which authorizes
// it.
Status KubeletSource::start() {
    if (auto started = polls_.start(); !started) return started;
    if (watch_) return watch_->start();
    is_polling_ = true;
    polls_.ask();
    return {};
}

void KubeletSource::ask_soon() {
    if (is_polling_) polls_.ask_soon();
}

void KubeletSource::set_period(Duration period, bool is_alone) {
    polls_.set_period(period, is_alone);
    if (watch_) watch_->set_alone(is_alone);
}

// What one way knew is what the other one keeps where it cannot read a pod, and until it has an answer.
void KubeletSource::on_watch() {
    if (is_watching()) {
        if (std::exchange(is_polling_, false)) polls_.pause();
        was_watching_ = true;
    } else {
        if (std::exchange(was_watching_, false)) polls_.adopt(watch_->pods());
        if (!std::exchange(is_polling_, true)) polls_.resume();
    }
    on_change_();
}

void KubeletSource::on_polled() {
    if (watch_ && polls_.pods() != nullptr) watch_->adopt(*polls_.pods());
    on_change_();
}

const ClusterPodList* KubeletSource::pods() const { return is_watching() ? &watch_->pods() : polls_.pods(); }

const std::optional<Error>& KubeletSource::fault() const { return is_watching() ? none_ : polls_.fault(); }

std::vector<PodSourceState> KubeletSource::states() const {
    if (is_watching()) return {state_of("kubelet " + watch_->socket(), watch_->heard_at(), {})};
    std::vector<PodSourceState> states{state_of("kubelet " + url_, polls_.heard_at(), polls_.fault())};
    if (watch_ && watch_->fault()) {
        states.push_back(state_of("kubelet " + watch_->socket(), watch_->heard_at(), watch_->fault()));
        states.back().fault += "; its /pods is asked instead";
    }
    return states;
}

}  // namespace evictd::kube

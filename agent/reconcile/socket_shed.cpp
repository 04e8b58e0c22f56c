// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/socket_shed.hpp"

#include <algorithm>

namespace evictd::reconcile {

SocketShed::SocketShed(const sys::Clock& clock, port::Sockets* sockets, bool dry_run)
    : clock_(clock), sockets_(sockets), dry_run_(dry_run) {}

std::vector<ShedEdge> SocketShed::reconcile(std::span<const ShedPod> wanted) {
    std::vector<ShedEdge> edges;
    if (wanted.empty() && held_.empty()) {
        return edges;
    }
    const auto done = refuse(wanted);
    for (auto held = held_.begin(); held != held_.end();) {
        const bool still =
            std::any_of(wanted.begin(), wanted.end(), [&](const ShedPod& pod) { return pod.cgroup == held->first; });
        if (still) {
            ++held;
        } else {
            if (!held->second.failed) {
                edges.push_back(end(held->second));
            }
            held = held_.erase(held);
        }
    }
    for (const auto& pod : wanted) {
        if (!held_.contains(pod.cgroup)) {
            edges.push_back(begin(pod, done));
        }
    }
    return edges;
}

Status SocketShed::refuse(std::span<const ShedPod> wanted) {
    if (dry_run_) {
        return {};
    }
    if (sockets_ == nullptr) {
        return fail(ErrorKind::failed, "sockets", "this host cannot refuse sockets", "see evictd doctor");
    }
    std::vector<CgroupId> pods;
    pods.reserve(wanted.size());
    for (const auto& pod : wanted) {
        pods.push_back(pod.cgroup);
    }
    return sockets_->refuse(pods, clock_.monotonic() + refusal_holds);
}

ShedEdge SocketShed::begin(const ShedPod& pod, const Status& done) {
    const bool real = !dry_run_ && sockets_ != nullptr;
    held_[pod.cgroup] = {pod, real ? sockets_->refused(pod.cgroup) : 0, !done};
    return {.pod = pod, .begun = true, .at = clock_.monotonic(), .error = done ? "" : done.error().text()};
}

ShedEdge SocketShed::end(const Held& held) {
    const bool real = !dry_run_ && sockets_ != nullptr;
    ShedEdge edge{.pod = held.pod, .begun = false, .at = clock_.monotonic(), .error = {}};
    if (real) {
        edge.refused = std::max<std::int64_t>(0, sockets_->refused(held.pod.cgroup) - held.refused_before);
    }
    return edge;
}

}  // namespace evictd::reconcile

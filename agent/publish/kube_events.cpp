// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/kube_events.hpp"

#include <utility>
#include <variant>
#include <vector>

#include "evictd/model/record.hpp"

namespace evictd::publish {
namespace {

// Lots of events waiting for a disk at most; each is a look's.
constexpr std::size_t kube_events_queue = 256;

}  // namespace

KubeEvents::KubeEvents(std::shared_ptr<port::ApiServer> api, const sys::Clock& clock, EventSenderOptions options,
                       std::shared_ptr<EventStream> stream)
    : node_(options.node), stream_(std::move(stream)), sender_(std::move(api), clock, std::move(options), answers_) {}

Result<std::unique_ptr<KubeEvents>> KubeEvents::make(std::shared_ptr<port::ApiServer> api, const sys::Clock& clock,
                                                     EventSenderOptions options, std::shared_ptr<EventStream> stream) {
    std::unique_ptr<KubeEvents> made(new KubeEvents(std::move(api), clock, std::move(options), std::move(stream)));
    auto lane = sys::Lane::make("evictd-events", kube_events_queue, sys::Lane::default_drain, sys::Duty::may_block);
    if (!lane) return tl::unexpected(lane.error());
    made->lane_ = std::move(*lane);
    auto* self = made.get();
    made->answers_->wake_by([self] { (void)self->lane_->post([self] { self->turn(); }); });
    (void)made->lane_->post([self] {
        self->sender_.load();
        self->turn();
    });
    return made;
}

KubeEvents::~KubeEvents() {
    answers_->close();
    if (lane_) lane_->close();
}

void KubeEvents::turn() {
    sender_.work();
    lost_ = sender_.lost();
    (void)lane_->arm(timer_, sender_.due(), [this] { turn(); });
}

void KubeEvents::publish(const RecordPtr& record) {
    auto events = codec::kube_events_of(*record, stream_->of(record), node_);
    if (const auto* tick = std::get_if<Tick>(record.get())) {
        const auto& met = tick->decision.thresholds_met;
        const std::string resource = met.empty() ? "" : std::string(traits(met.front().threshold.signal).resource);
        if (!resource.empty() && (resource != reclaiming_ || tick->decision.evict)) {
            events.insert(events.begin(), codec::reclaim_event(met.front(), tick->observation.wall, node_));
        }
        reclaiming_ = resource;
    }
    if (events.empty()) return;
    const auto count = events.size();
    const bool posted = lane_->post([this, kept = std::move(events)]() mutable {
        for (auto& event : kept) sender_.add(std::move(event));
        turn();
    });
    if (!posted) unposted_ += count;
}

}  // namespace evictd::publish

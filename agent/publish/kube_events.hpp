// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Kube events of what happens on this node. Hears of Records in the shared lane, where it only makes the events; a lane
// of its own writes and sends them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "evictd/port/publisher.hpp"
#include "publish/event_sender.hpp"
#include "publish/event_stream.hpp"
#include "sys/lane.hpp"

namespace evictd::publish {

class KubeEvents final : public port::Publisher {
public:
    // `clock` outlives it. `stream`: the shared lane's, which limits what a pod can cause.
    static Result<std::unique_ptr<KubeEvents>> make(std::shared_ptr<port::ApiServer> api, const sys::Clock& clock,
                                                    EventSenderOptions options, std::shared_ptr<EventStream> stream);
    ~KubeEvents() override;
    KubeEvents(const KubeEvents&) = delete;
    KubeEvents& operator=(const KubeEvents&) = delete;

    void publish(const RecordPtr& record) override;
    // Events that are never delivered. Any thread.
    [[nodiscard]] std::uint64_t lost() const { return lost_ + unposted_; }

private:
    KubeEvents(std::shared_ptr<port::ApiServer> api, const sys::Clock& clock, EventSenderOptions options,
               std::shared_ptr<EventStream> stream);
    void turn();

    std::string node_;
    std::shared_ptr<EventStream> stream_;
    std::string reclaiming_;  // the resource that was said to be reclaimed last; empty: no threshold is met
    std::atomic<std::uint64_t> lost_ = 0;
    std::atomic<std::uint64_t> unposted_ = 0;
    std::shared_ptr<EventAnswers> answers_ = std::make_shared<EventAnswers>();
    EventSender sender_;  // the lane's
    sys::Timer timer_;
    std::unique_ptr<sys::Lane> lane_;  // last: its thread must be gone first
};

}  // namespace evictd::publish

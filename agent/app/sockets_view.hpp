// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Keeps the pinned map "sockets" current, for bpftool and for other programs, and gives its figures to whoever asks.
// Off the kill path, as any publisher.
#pragma once

#include "evictd/model/sockets.hpp"
#include "evictd/port/publisher.hpp"
#include "evictd/port/sockets.hpp"
#include "sys/clock.hpp"

namespace evictd::app {

class SocketsView final : public port::Publisher {
public:
    // Both outlive it.
    SocketsView(port::Sockets& sockets, const sys::Clock& clock) : sockets_(sockets), clock_(clock) {}

    void publish(const RecordPtr& record) override;
    // As they are now. In the publishing lane.
    [[nodiscard]] Result<SocketsReading> read();

private:
    port::Sockets& sockets_;
    const sys::Clock& clock_;
    MonotonicTime next_;  // not before, unless asked
    MonotonicTime next_at_rest_;
};

}  // namespace evictd::app

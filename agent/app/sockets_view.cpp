// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/sockets_view.hpp"

#include <algorithm>

#include "evictd/model/record.hpp"
#include "kernel/tcp_memory.hpp"
#include "policy/watch.hpp"

namespace evictd::app {
namespace {

// A pass goes over every open file: under pressure there are looks every few milliseconds. At rest
// that would be a third of what an idle evictd takes, for a map that few read; `evictd status` has a pass of its own.
constexpr Duration read_every = std::chrono::seconds(1);
constexpr Duration read_every_at_rest = std::chrono::minutes(1);
// Of one CPU, however many files there are.
constexpr int at_most_a_hundredth = 100;

bool is_at_rest(const Decision& decision) {
    return !policy::is_met_or_pending(decision) && decision.conditions.empty();
}

}  // namespace

void SocketsView::publish(const RecordPtr& record) {
    const auto* tick = std::get_if<Tick>(record.get());
    if (tick == nullptr) {
        return;
    }
    const auto now = clock_.monotonic();
    if (now >= (is_at_rest(tick->decision) ? std::max(next_, next_at_rest_) : next_)) {
        (void)read();
    }
}

Result<SocketsReading> SocketsView::read() {
    const auto began = clock_.monotonic();
    auto pods = sockets_.read();
    const auto ended = clock_.monotonic();
    next_ = ended + std::max<Duration>(read_every, at_most_a_hundredth * (ended - began));
    next_at_rest_ = ended + read_every_at_rest;
    if (!pods) {
        return tl::unexpected(pods.error());  // its rows in `sources` say why
    }
    return SocketsReading{std::move(*pods), kernel::read_tcp_memory()};
}

}  // namespace evictd::app

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/sockets_view.hpp"

#include <algorithm>

#include "evictd/model/record.hpp"
#include "kernel/tcp_memory.hpp"

namespace evictd::app {
namespace {

// A pass goes over every open file: under pressure there are looks every few milliseconds.
constexpr Duration read_every = std::chrono::seconds(1);
// Of one CPU, however many files there are.
constexpr int at_most_a_hundredth = 100;

}  // namespace

void SocketsView::publish(const RecordPtr& record) {
    if (std::holds_alternative<Tick>(*record) && clock_.monotonic() >= next_) {
        (void)read();
    }
}

Result<SocketsReading> SocketsView::read() {
    const auto began = clock_.monotonic();
    auto pods = sockets_.read();
    const auto ended = clock_.monotonic();
    next_ = ended + std::max<Duration>(read_every, at_most_a_hundredth * (ended - began));
    if (!pods) {
        return tl::unexpected(pods.error());  // its rows in `sources` say why
    }
    return SocketsReading{std::move(*pods), kernel::read_tcp_memory()};
}

}  // namespace evictd::app

// SPDX-License-Identifier: Apache-2.0
#include "app/sockets_view.hpp"

#include "kernel/tcp_memory.hpp"

namespace evictd::app {
namespace {

// A pass goes over every socket of every pod: under pressure there are looks every few milliseconds.
constexpr Duration read_every = std::chrono::seconds(1);

}  // namespace

void SocketsView::publish(const RecordPtr& record) {
    if (std::holds_alternative<Tick>(*record) && clock_.monotonic() - read_at_ >= read_every) {
        (void)read();
    }
}

Result<SocketsReading> SocketsView::read() {
    read_at_ = clock_.monotonic();
    auto pods = sockets_.read();
    if (!pods) {
        return tl::unexpected(pods.error());  // its rows in `sources` say why
    }
    return SocketsReading{std::move(*pods), kernel::read_tcp_memory()};
}

}  // namespace evictd::app

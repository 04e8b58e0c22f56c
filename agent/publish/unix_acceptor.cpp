// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/unix_acceptor.hpp"

#include <cerrno>
#include <utility>

#include <sys/socket.h>

namespace evictd::publish {
namespace {

// The connection stays in the queue. All other errors are of a connection that is gone (accept(2)).
bool is_exhausted(int error) { return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM; }

}  // namespace

Result<std::unique_ptr<UnixAcceptor>> UnixAcceptor::make(sys::Loop& loop, UnixListener listener,
                                                         OnConnection on_connection) {
    std::unique_ptr<UnixAcceptor> made(new UnixAcceptor(loop, std::move(listener), std::move(on_connection)));
    auto timer = loop.add_timer([raw = made.get()] { raw->resume(); });
    if (!timer) return tl::unexpected(timer.error());
    made->resume_ = std::move(*timer);
    if (auto watching = made->watch(); !watching) return tl::unexpected(watching.error());
    return made;
}

Status UnixAcceptor::watch() {
    auto readable = loop_.add_fd(listener_.get(), [this] { accept(); });
    if (!readable) return tl::unexpected(readable.error());
    readable_ = std::move(*readable);
    return {};
}

void UnixAcceptor::resume() {
    if (!watch()) resume_.arm_in(pause);
}

void UnixAcceptor::accept() {
    sys::Fd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection) {
        on_connection_(std::move(connection));
    } else if (is_exhausted(errno)) {
        readable_.reset();
        resume_.arm_in(pause);
    }
}

}  // namespace evictd::publish

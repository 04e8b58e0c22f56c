// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Listening, letting in, and handing Records to the sessions.
#include "publish/status_socket.hpp"

#include <algorithm>
#include <utility>

#include "codec/event_json.hpp"
#include "sys/log.hpp"

namespace evictd::publish {
namespace {

// People with a terminal each, and a dashboard or two. Every one may hold 256 KiB of unread lines: 4 MiB together.
constexpr std::size_t max_sessions = 16;

}  // namespace

StatusSocket::StatusSocket(sys::Loop& loop, const sys::Clock& clock, const StatusBoard& board,
                           StatusSocketOptions options)
    : services_{loop,
                clock,
                board,
                std::move(options.event_log_path),
                options.event_log_max_files,
                std::move(options.request_look),
                std::move(options.sockets)},
      path_(std::move(options.path)),
      node_(std::move(options.node)),
      events_(std::move(options.events)) {}

Result<std::unique_ptr<StatusSocket>> StatusSocket::make(sys::Loop& loop, const sys::Clock& clock,
                                                         const StatusBoard& board, StatusSocketOptions options) {
    std::unique_ptr<StatusSocket> made(new StatusSocket(loop, clock, board, std::move(options)));
    auto listener = UnixListener::make("status socket " + made->path_, made->path_);
    if (!listener) return tl::unexpected(listener.error());
    auto acceptor = UnixAcceptor::make(loop, std::move(*listener), [socket = made.get()](sys::Fd connection) {
        socket->sweep();
        socket->admit(std::move(connection));
    });
    if (!acceptor) return tl::unexpected(acceptor.error());
    made->acceptor_ = std::move(*acceptor);
    return made;
}

StatusSocket::~StatusSocket() = default;

void StatusSocket::admit(sys::Fd connection) {
    const bool allowed = is_permitted_peer(connection.get());
    auto session = StatusSession::make(services_, std::move(connection));
    if (!session) {
        sys::log::warn("cannot serve a client: " + session.error().text());
        return;
    }
    if (!allowed) {
        (*session)->refuse({ErrorKind::not_permitted, "status socket", "only root may ask", "use sudo"});
    } else if (sessions_.size() >= max_sessions) {
        (*session)->refuse({ErrorKind::failed, "status socket", "too many clients", "end one of them"});
        return;  // what fits into the socket's buffer is sent; the rest is not waited for
    }
    sessions_.push_back(std::move(*session));
}

void StatusSocket::publish(const RecordPtr& record) {
    sweep();
    if (const auto* tick = std::get_if<Tick>(record.get())) {
        for (const auto& session : sessions_) session->looked(*tick);
    }
    if (sessions_.empty()) return;
    for (const auto& event : events_->of(record)) {
        const auto line = codec::to_json_line(event, node_);
        for (const auto& session : sessions_) session->happened(event, line);
    }
}

void StatusSocket::sweep() {
    const auto gone = [](const auto& session) { return session->ended(); };
    sessions_.erase(std::remove_if(sessions_.begin(), sessions_.end(), gone), sessions_.end());
}

}  // namespace evictd::publish

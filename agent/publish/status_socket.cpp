// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Listening, letting in, and handing Records to the sessions.
#include "publish/status_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/event_json.hpp"
#include "publish/socket_path.hpp"
#include "publish/unix_address.hpp"
#include "sys/file.hpp"
#include "sys/log.hpp"

namespace evictd::publish {
namespace {

// People with a terminal each, and a dashboard or two. Every one may hold 256 KiB of unread lines: 4 MiB together.
constexpr std::size_t max_sessions = 16;

Result<sys::Fd> stream_socket() {
    sys::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return sys::fail_errno("status socket", errno);
    return socket;
}

// Root, and the user the agent runs as.
bool may_ask(int connection) {
    ucred peer{};
    socklen_t size = sizeof(peer);
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
    return peer.uid == 0 || peer.uid == ::geteuid();
}

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
    if (auto listening = made->listen(); !listening) return tl::unexpected(listening.error());
    StatusSocket* raw = made.get();
    auto accepting = loop.add_fd(made->listener_.get(), [raw] { raw->on_connection(); });
    if (!accepting) return tl::unexpected(accepting.error());
    made->accepting_ = std::move(*accepting);
    return made;
}

Status StatusSocket::listen() {
    const std::string what = "status socket " + path_;
    const auto address = unix_address(path_);
    if (!address) return tl::unexpected(address.error());
    if (const auto slash = path_.rfind('/'); slash != std::string::npos && slash > 0) {
        if (auto made = sys::make_directories(path_.substr(0, slash), 0700); !made) return made;
    }
    if (auto clear = clear_socket(path_); !clear) return tl::unexpected(clear.error());
    auto socket = stream_socket();
    if (!socket) return tl::unexpected(socket.error());
    // The mode of the unbound socket is what bind() gives the file: there is no moment in which others may connect.
    struct stat bound {};
    if (::fchmod(socket->get(), 0600) != 0 || ::bind(socket->get(), generic(*address), sizeof(*address)) != 0 ||
        ::stat(path_.c_str(), &bound) != 0 || ::listen(socket->get(), SOMAXCONN) != 0) {
        return sys::fail_errno(what, errno);
    }
    device_ = bound.st_dev;
    inode_ = bound.st_ino;
    listener_ = std::move(*socket);
    return {};
}

StatusSocket::~StatusSocket() {
    struct stat there {};
    const bool ours =
        listener_ && ::lstat(path_.c_str(), &there) == 0 && there.st_dev == device_ && there.st_ino == inode_;
    if (ours) ::unlink(path_.c_str());
}

void StatusSocket::on_connection() {
    sweep();
    sys::Fd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    // The client went away, or we are out of descriptors: the next one may fare better.
    if (connection) admit(std::move(connection));
}

void StatusSocket::admit(sys::Fd connection) {
    const bool allowed = may_ask(connection.get());
    auto session = StatusSession::make(services_, std::move(connection));
    if (!session) {
        sys::log::warn("cannot serve a client: " + session.error().text());
        return;
    }
    if (!allowed) {
        (*session)->refuse({ErrorKind::not_permitted, "status socket", "only root may ask", "use sudo"});
    } else if (sessions_.size() >= max_sessions) {
        (*session)->refuse({ErrorKind::failed, "status socket", "too many clients", "end one of them"});
        return;  // what fits into the socket's buffer is sent; nobody waits for the rest
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

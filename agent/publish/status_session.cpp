// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One client: read a line, answer it, close; or stream events until it goes away.
#include "publish/status_session.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "codec/event_json.hpp"

namespace evictd::publish {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t request_limit = 4096;  // a request is some 80 bytes
// Before a client that only holds a place is sent away. People typing into `nc` need seconds.
constexpr Duration peer_patience = 10s;
// A look takes about a millisecond. An agent that has not answered after this is busy evicting: the last look is better
// than none, and a person does not notice the wait.
constexpr Duration look_patience = 200ms;
// What a follower may be behind: some 500 lines, minutes of a node in trouble. Half would lose a pager's pipe sooner,
// double would only cost memory.
constexpr std::size_t unsent_limit = std::size_t{256} << 10U;
// Of the log, read in one turn of the loop, so that no reader of a long log holds up the lane.
constexpr std::size_t backlog_turn = std::size_t{128} << 10U;

}  // namespace

StatusSession::StatusSession(const StatusServices& services, sys::Fd socket)
    : services_(services), socket_(std::move(socket)) {}

Result<std::unique_ptr<StatusSession>> StatusSession::make(const StatusServices& services, sys::Fd socket) {
    std::unique_ptr<StatusSession> session(new StatusSession(services, std::move(socket)));
    if (auto watched = session->watch(); !watched) return tl::unexpected(watched.error());
    return session;
}

Status StatusSession::watch() {
    write_end_ = sys::Fd(::fcntl(socket_.get(), F_DUPFD_CLOEXEC, 0));
    if (!write_end_) return sys::fail_errno("status socket", errno);
    auto deadline = services_.loop.add_timer([this] { on_elapsed(); });
    if (!deadline) return tl::unexpected(deadline.error());
    deadline_ = std::move(*deadline);
    deadline_.arm(services_.clock.monotonic() + peer_patience);
    auto readable = services_.loop.add_fd(socket_.get(), [this] { on_readable(); });
    if (!readable) return tl::unexpected(readable.error());
    readable_ = std::move(*readable);
    return {};
}

void StatusSession::on_readable() {
    std::array<char, 1024> chunk{};
    const ssize_t got = ::recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got < 0) return end();
    if (got == 0) return on_hang_up();
    if (state_ != State::reading) return;  // bytes after a request are ignored
    request_text_.append(chunk.data(), static_cast<std::size_t>(got));
    const auto newline = request_text_.find('\n');
    if (newline <= request_limit) return answer(std::string_view(request_text_).substr(0, newline));
    if (request_text_.size() > request_limit) {
        refuse({ErrorKind::invalid, "request", "longer than " + std::to_string(request_limit) + " bytes", ""});
    }
}

// A client that only stops writing (`nc -N`) still reads its answer; one that went away does not.
void StatusSession::on_hang_up() {
    pollfd peer{socket_.get(), 0, 0};
    const bool gone = ::poll(&peer, 1, 0) > 0 && (peer.revents & (POLLHUP | POLLERR)) != 0;
    if (gone || (state_ == State::reading && request_text_.empty())) return end();
    readable_.reset();
    if (state_ == State::reading) answer(request_text_);
}

void StatusSession::on_elapsed() {
    if (state_ == State::waiting_for_look) return answer_status();
    end();
}

void StatusSession::answer(std::string_view line) {
    const auto request = codec::request_from_json(line);
    if (!request) return refuse(request.error());
    request_ = *request;
    if (request_.verb == codec::RequestVerb::events) return start_events();
    wait_for_look();
}

void StatusSession::wait_for_look() {
    if (!services_.request_look) return answer_status();
    state_ = State::waiting_for_look;
    asked_at_ = services_.clock.monotonic();
    deadline_.arm(asked_at_ + look_patience);
    services_.request_look();
}

void StatusSession::looked(const Tick& tick) {
    // An older look may still have been in the queue.
    if (state_ == State::waiting_for_look && tick.observation.at >= asked_at_) answer_status();
}

void StatusSession::answer_status() {
    const auto document = services_.board.document();
    if (request_.verb == codec::RequestVerb::status) {
        const auto sockets = services_.sockets ? services_.sockets() : SocketsReading{};
        send_line(document->status(sockets.value_or(SocketsReading{})));
    } else if (const auto ranking = request_.order == codec::RankOrder::scale_down ? document->scale_down()
                                                                                   : document->rank(request_.signal)) {
        send_line(*ranking);
    } else {
        send_line(codec::error_json_line(ranking.error()));
    }
    close_when_sent();
}

void StatusSession::refuse(const Error& error) {
    send_line(codec::error_json_line(error));
    close_when_sent();
}

// Without a time: all that the log holds, or, to follow, only what is to come.
void StatusSession::start_events() {
    deadline_.disarm();
    if (request_.since) since_ = services_.clock.wall() - *request_.since;
    if (request_.follow && !since_) {
        state_ = State::following;
        return;
    }
    state_ = State::backlog;
    log_.emplace(services_.event_log_path, services_.event_log_max_files, since_);
    read_backlog();
}

bool StatusSession::wanted(const codec::Event& event) const {
    const auto& id = request_.id;
    const bool is_it = id.empty() || (id == "*" ? !event.id.empty() : event.id.starts_with(id));
    return is_it && (request_.reason.empty() || event.reason.text() == request_.reason) &&
           (!since_ || event.time >= *since_);
}

// One turn's worth. The log is written in this thread before sessions hear of an event, so at its end nothing is
// missing and nothing comes twice.
void StatusSession::read_backlog() {
    std::size_t budget = backlog_turn;
    while (pending_.size() - sent_ < backlog_turn) {
        const auto line = log_->next(budget);
        if (!line) break;
        const auto event = codec::event_from_json(*line);
        if (event && wanted(*event)) send_line(*line);
    }
    if (log_->at_end()) {
        log_.reset();
        if (!request_.follow) {
            send_line("");  // the end: a client that does not get it was cut off
            return close_when_sent();
        }
        state_ = State::following;
    }
    flush();
}

void StatusSession::happened(const codec::Event& event, const std::string& line) {
    if (state_ != State::following || !wanted(event)) return;
    if (pending_.size() - sent_ + line.size() > unsent_limit) {
        return refuse({ErrorKind::failed, "events", "the reader is too slow and was dropped",
                       "read faster, or ask for fewer with a reason"});
    }
    send_line(line);
    flush();
}

void StatusSession::send_line(std::string_view line) { pending_.append(line).push_back('\n'); }

void StatusSession::close_when_sent() {
    state_ = State::closing;
    deadline_.arm(services_.clock.monotonic() + peer_patience);
    flush();
}

// Sends what fits. When not all did, or there is more to read, the loop calls again as soon as there is room.
void StatusSession::flush() {
    if (!send_pending()) return end();
    const bool all = pending_.empty();
    if (all && state_ == State::closing) return end();
    if (all && state_ != State::backlog) return writable_.reset();
    if (writable_) return;
    auto writable = services_.loop.add_writable_fd(write_end_.get(), [this] {
        if (state_ == State::backlog) return read_backlog();
        flush();
    });
    if (!writable) return end();
    writable_ = std::move(*writable);
}

bool StatusSession::send_pending() {
    while (sent_ < pending_.size()) {
        const ssize_t put =
            ::send(socket_.get(), pending_.data() + sent_, pending_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0 && errno == EAGAIN) break;
        if (put < 0) return false;
        sent_ += static_cast<std::size_t>(put);
    }
    pending_.erase(0, sent_);
    sent_ = 0;
    return true;
}

void StatusSession::end() {
    state_ = State::ended;
    readable_.reset();
    writable_.reset();
    deadline_ = {};
    socket_.reset();
    write_end_.reset();
}

}  // namespace evictd::publish

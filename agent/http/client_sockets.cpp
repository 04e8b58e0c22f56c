// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// libcurl's sockets are in an epoll set of their own, which is one descriptor of our loop; its timeouts are one timer.
#include <array>
#include <cerrno>
#include <chrono>
#include <vector>

#include <sys/epoll.h>

#include "http/client_core.hpp"
#include "sys/clock.hpp"

namespace evictd::http {
namespace {

// A watch, a request beside it and a reconnect.
constexpr long most_idle_connections = 4;
// Of reading all sockets, 16 KiB at most each: 1 MiB of each. A quarter of it and an answer of 16 MiB takes 64 turns of
// the loop, four times as much and one turn takes some milliseconds.
constexpr int most_rounds = 64;

}  // namespace

Status Client::Core::open() {
    epoll = sys::Fd(epoll_create1(EPOLL_CLOEXEC));
    if (!epoll) return sys::fail_errno("epoll", errno);
    multi.reset(curl().multi_init());
    if (!multi) return fail(ErrorKind::failed, server.url, "the HTTP library does not start");
    if (auto opened = open_timers(); !opened) return opened;
    auto added = loop.add_fd(epoll.get(), [this] { on_ready(); });
    if (!added) return tl::unexpected(added.error());
    ready = std::move(*added);
    (void)curl().multi_setopt(multi.get(), CURLMOPT_SOCKETFUNCTION, on_socket);
    (void)curl().multi_setopt(multi.get(), CURLMOPT_SOCKETDATA, this);
    (void)curl().multi_setopt(multi.get(), CURLMOPT_TIMERFUNCTION, on_timer);
    (void)curl().multi_setopt(multi.get(), CURLMOPT_TIMERDATA, this);
    (void)curl().multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, most_idle_connections);
    return {};
}

Status Client::Core::open_timers() {
    auto made = loop.add_timer([this] {
        act_on(CURL_SOCKET_TIMEOUT, 0);
        finish_calls();
    });
    if (!made) return tl::unexpected(made.error());
    timer = std::move(*made);
    made = loop.add_timer([this] {
        read_on(pieces - 1, 1);
        finish_calls();
    });
    if (!made) return tl::unexpected(made.error());
    again = std::move(*made);
    made = loop.add_timer([this] { end_late_calls(); });
    if (!made) return tl::unexpected(made.error());
    limits = std::move(*made);
    return {};
}

int Client::Core::on_socket(CURL* /*easy*/, curl_socket_t socket, int wanted, void* core, void* known) {
    auto& self = *static_cast<Core*>(core);
    self.read_from.erase(socket);
    if (wanted == CURL_POLL_REMOVE) {
        (void)epoll_ctl(self.epoll.get(), EPOLL_CTL_DEL, socket, nullptr);
        return 0;
    }
    epoll_event event{};
    event.data.fd = socket;
    if ((wanted & CURL_POLL_IN) != 0) {
        event.events |= EPOLLIN;
        self.read_from.insert(socket);
    }
    if ((wanted & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
    const int operation = known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    // An error would end all requests, and each later one. Without it this one runs into its timeout.
    (void)epoll_ctl(self.epoll.get(), operation, socket, &event);
    (void)curl().multi_assign(self.multi.get(), socket, core);
    return 0;
}

// Never early: libcurl finds nothing due then, and does not ask again for the time that it has asked for. Its requests
// would wait for ever, their own timeouts too. So not from the time at which this turn of the loop began (arm_in()).
int Client::Core::on_timer(CURLM* /*multi*/, long milliseconds, void* core) {
    auto& self = *static_cast<Core*>(core);
    if (milliseconds < 0) {
        self.timer.disarm();
    } else {
        self.timer.arm(sys::SystemClock().monotonic() + std::chrono::milliseconds(milliseconds));
    }
    return 0;
}

void Client::Core::on_ready() {
    std::array<epoll_event, 8> events{};
    const int count = epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; i++) {
        const auto& event = events.at(static_cast<std::size_t>(i));
        int what = 0;
        if ((event.events & (EPOLLIN | EPOLLHUP)) != 0) what |= CURL_CSELECT_IN;
        if ((event.events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
        if ((event.events & EPOLLERR) != 0) what |= CURL_CSELECT_ERR;
        act_on(event.data.fd, what);
    }
    finish_calls();
}

// Of HTTP/2, libcurl 7.88 keeps what it has read and not handed on yet, and waits for the socket, which may have no
// more: an answer would be late, or never there. So all sockets are read again until nothing comes of it.
void Client::Core::act_on(curl_socket_t socket, int what) {
    int running = 0;
    const auto before = pieces;
    (void)curl().multi_socket_action(multi.get(), socket, what, &running);
    read_on(before, running);
}

// A server that sends without an end has its turn of the loop, and the loop its timers and others between two of them.
void Client::Core::read_on(std::uint64_t before, int running) {
    for (int round = 0; pieces != before && running > 0; ++round) {
        if (round >= most_rounds) return again.arm({});
        before = pieces;
        for (const auto other : std::vector(read_from.begin(), read_from.end())) {
            (void)curl().multi_socket_action(multi.get(), other, CURL_CSELECT_IN, &running);
        }
    }
}

}  // namespace evictd::http

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/listener.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <optional>

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/fd.hpp"

namespace evictd::app {
namespace {

constexpr unsigned listening = 10;  // TCP_LISTEN of the kernel's net/tcp_states.h
constexpr std::size_t one_answer = 32768;
constexpr timeval receive_timeout{.tv_sec = 1, .tv_usec = 0};

struct Question {
    nlmsghdr head;
    inet_diag_req_v2 body;
};

// Only sockets that listen: /proc/net/tcp goes over the table of all connections, whose empty buckets alone take the
// kernel milliseconds on a big machine.
bool ask(int netlink, std::uint8_t family) {
    Question question{};
    question.head.nlmsg_len = sizeof(question);
    question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    question.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    question.body.sdiag_family = family;
    question.body.sdiag_protocol = IPPROTO_TCP;
    question.body.idiag_states = 1U << listening;
    return ::send(netlink, &question, sizeof(question), 0) == static_cast<ssize_t>(sizeof(question));
}

struct Answer {
    std::optional<std::uint32_t> inode{};
    bool ended = false;
};

Answer read_answer(const std::byte* data, std::size_t size, std::uint16_t port) {
    Answer answer;
    for (std::size_t at = 0; at + sizeof(nlmsghdr) <= size;) {
        nlmsghdr head{};
        std::memcpy(&head, data + at, sizeof(head));
        if (head.nlmsg_len < sizeof(head) || head.nlmsg_len > size - at) break;
        answer.ended = answer.ended || head.nlmsg_type == NLMSG_DONE || head.nlmsg_type == NLMSG_ERROR;
        inet_diag_msg socket{};
        if (head.nlmsg_type == SOCK_DIAG_BY_FAMILY && head.nlmsg_len >= NLMSG_HDRLEN + sizeof(socket)) {
            std::memcpy(&socket, data + at + NLMSG_HDRLEN, sizeof(socket));
            if (ntohs(socket.id.idiag_sport) == port && !answer.inode) answer.inode = socket.idiag_inode;
        }
        at += NLMSG_ALIGN(head.nlmsg_len);
    }
    return answer;
}

std::optional<std::uint32_t> find_listener(std::uint8_t family, std::uint16_t port) {
    const sys::Fd netlink(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    if (!netlink ||
        ::setsockopt(netlink.get(), SOL_SOCKET, SO_RCVTIMEO, &receive_timeout, sizeof(receive_timeout)) != 0)
        return {};
    if (!ask(netlink.get(), family)) return {};
    std::array<std::byte, one_answer> buffer{};
    while (true) {
        const auto got = ::recv(netlink.get(), buffer.data(), buffer.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return {};
        const auto answer = read_answer(buffer.data(), static_cast<std::size_t>(got), port);
        if (answer.inode || answer.ended) return answer.inode;
    }
}

}  // namespace

std::string listener_on(std::uint16_t port) {
    for (const auto family : {std::uint8_t{AF_INET}, std::uint8_t{AF_INET6}}) {
        if (const auto inode = find_listener(family, port)) return std::to_string(*inode);
    }
    return {};
}

std::uint16_t port_of(const std::string& url) {
    const auto colon = url.rfind(':');
    std::uint16_t port = 0;
    if (colon != std::string::npos) (void)std::from_chars(url.data() + colon + 1, url.data() + url.size(), port);
    return port;
}

}  // namespace evictd::app

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/http_address.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace evictd::publish {
namespace {

// What the kernel completes before we accept. A flood waits there and costs us nothing; an honest client waits behind
// it, some 0.5 s, where a shorter queue would have its attempts dropped for seconds.
constexpr int backlog = 1024;

union Address {
    sockaddr any;
    sockaddr_in four;
    sockaddr_in6 six;
};

// As config/ checked it: by number, IPv6 in brackets.
std::optional<std::pair<Address, socklen_t>> parse(const std::string& text) {
    const auto colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0) return std::nullopt;
    std::uint16_t port = 0;
    const char* end = text.data() + text.size();
    if (const auto read = std::from_chars(text.data() + colon + 1, end, port);
        read.ec != std::errc{} || read.ptr != end)
        return std::nullopt;
    Address address{};
    if (text.front() == '[') {
        address.six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
        const auto host = text.substr(1, colon < 2 ? 0 : colon - 2);
        if (inet_pton(AF_INET6, host.c_str(), &address.six.sin6_addr) != 1) return std::nullopt;
        return std::pair{address, socklen_t{sizeof address.six}};
    }
    address.four.sin_family = AF_INET;
    address.four.sin_port = htons(port);
    if (inet_pton(AF_INET, text.substr(0, colon).c_str(), &address.four.sin_addr) != 1) return std::nullopt;
    return std::pair{address, socklen_t{sizeof address.four}};
}

}  // namespace

Result<sys::Fd> listen_on(const std::string& text) {
    const auto refuse = [&](ErrorKind kind, const std::string& why) {
        return fail(kind, "evictd.httpAddress", text + " cannot be listened on: " + why,
                    "choose an address of this host and a port that is free");
    };
    const auto address = parse(text);
    if (!address) return refuse(ErrorKind::invalid, "not an address and a port");
    sys::Fd listener(::socket(address->first.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    if (!listener || ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        ::bind(listener.get(), &address->first.any, address->second) != 0 || ::listen(listener.get(), backlog) != 0)
        return refuse(ErrorKind::failed, std::generic_category().message(errno));
    return listener;
}

int port_of(const sys::Fd& listener) {
    Address address{};
    socklen_t size = sizeof address;
    if (::getsockname(listener.get(), &address.any, &size) != 0) return 0;
    return ntohs(address.any.sa_family == AF_INET6 ? address.six.sin6_port : address.four.sin_port);
}

std::string host_of(const sockaddr* address) {
    Address copy{};
    if (address == nullptr) return {};
    if (address->sa_family == AF_INET6) {
        std::copy_n(static_cast<const char*>(static_cast<const void*>(address)), sizeof copy.six,
                    static_cast<char*>(static_cast<void*>(&copy)));
        return {static_cast<const char*>(static_cast<const void*>(&copy.six.sin6_addr)), sizeof(in6_addr)};
    }
    std::copy_n(static_cast<const char*>(static_cast<const void*>(address)), sizeof copy.four,
                static_cast<char*>(static_cast<void*>(&copy)));
    return {static_cast<const char*>(static_cast<const void*>(&copy.four.sin_addr)), sizeof(in_addr)};
}

}  // namespace evictd::publish

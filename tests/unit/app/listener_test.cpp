// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/listener.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "sys/fd.hpp"

namespace evictd::app {
namespace {

sys::Fd listen_on(std::uint16_t& port) {
    sys::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(fd.get(), generic, size), 0);
    EXPECT_EQ(::listen(fd.get(), 1), 0);
    EXPECT_EQ(::getsockname(fd.get(), generic, &size), 0);
    port = ntohs(address.sin_port);
    return fd;
}

TEST(Listener, IsAnotherOneWhenTheServerIsStartedAgain) {
    std::uint16_t port = 0;
    auto server = listen_on(port);
    const auto first = listener_on(port);
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(listener_on(port), first);
    server.reset();
    EXPECT_EQ(listener_on(port), "");
    server = listen_on(port);
    EXPECT_FALSE(listener_on(port).empty());
    EXPECT_NE(listener_on(port), first);
}

// The kubelet listens on [::], where the table of IPv4 has nothing.
TEST(Listener, MayListenOnIPv6Only) {
    const sys::Fd server(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!server) GTEST_SKIP() << "no IPv6 here";
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof(address);
    if (::bind(server.get(), generic, size) != 0) GTEST_SKIP() << "no IPv6 address here";
    ASSERT_EQ(::listen(server.get(), 1), 0);
    ASSERT_EQ(::getsockname(server.get(), generic, &size), 0);
    EXPECT_FALSE(listener_on(ntohs(address.sin6_port)).empty());
}

TEST(Listener, ThePortIsTheUrls) {
    EXPECT_EQ(port_of("https://127.0.0.1:10250"), 10250);
    EXPECT_EQ(port_of("https://[::1]:10250"), 10250);
    EXPECT_EQ(port_of("https://node"), 0);
    EXPECT_EQ(port_of(""), 0);
}

}  // namespace
}  // namespace evictd::app

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whose connections are that come in, and the memory that buffers of connections hold.
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "kernel/sockets_fixture.hpp"

namespace evictd::kernel_test {
namespace {

// Listens on a port of its own on loopback; `accepts` how many of those that come.
PodProcess::Body serve(sys::Fd& listener, int accepts) {
    return [&listener, accepts](const Line& line) {
        listener = make_socket(AF_INET, SOCK_STREAM);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        const bool listens = ::bind(listener.get(), generic, size) == 0 && ::listen(listener.get(), 8) == 0 &&
                             ::getsockname(listener.get(), generic, &size) == 0;
        line.say(listens ? static_cast<char>(ntohs(address.sin_port) >> 8U) : 0);
        line.say(static_cast<char>(ntohs(address.sin_port) & 0xffU));
        line.hear();
        std::vector<sys::Fd> accepted;
        for (int i = 0; i < accepts; i++) accepted.emplace_back(::accept(listener.get(), nullptr, nullptr));
        line.say('a');
        line.hear();
        accepted.clear();
        listener.reset();
        line.say('c');
        line.hear();
    };
}

in_port_t port_of(const PodProcess& server) {
    const auto high = static_cast<unsigned char>(server.hear().value_or(0));
    const auto low = static_cast<unsigned char>(server.hear().value_or(0));
    return htons(static_cast<std::uint16_t>(high << 8U | low));
}

sys::Fd connect_to(in_port_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = port;
    auto client = make_socket(AF_INET, SOCK_STREAM);
    const bool connected = ::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    return connected ? std::move(client) : sys::Fd();
}

TEST_F(Sockets, ConnectionsThatComeInAreTheListenersPods) {
    sys::Fd listener;
    PodProcess server(cgroups_, in_a, serve(listener, 2));
    const auto port = port_of(server);
    ASSERT_NE(port, 0);
    PodProcess client(cgroups_, in_b, [&](const Line& line) {
        auto one = connect_to(port);
        auto two = connect_to(port);
        line.say(one && two ? 'y' : 'n');
        line.hear();
        one.reset();
        two.reset();
        line.say('c');
        line.hear();
    });
    ASSERT_EQ(client.hear(), 'y');
    ASSERT_EQ(ask(server, 'g'), 'a');
    EXPECT_EQ(open(pod_a), 3);
    EXPECT_EQ(open(pod_b), 2);
    ASSERT_EQ(ask(client, 'c'), 'c');
    EXPECT_EQ(open(pod_b), 0);
    EXPECT_EQ(open(pod_a), 3) << "the other side's ends";
    ASSERT_EQ(ask(server, 'c'), 'c');
    EXPECT_EQ(open(pod_a), 0);
}

TEST_F(Sockets, MemoryIsWhatTheirBuffersHold) {
    sys::Fd listener;
    PodProcess server(cgroups_, in_a, serve(listener, 1));
    const auto port = port_of(server);
    PodProcess client(cgroups_, in_b, [&](const Line& line) {
        const auto socket = connect_to(port);
        const std::string much(64 * 1024, 'm');
        for (int i = 0; i < 4; i++) (void)::send(socket.get(), much.data(), much.size(), MSG_DONTWAIT);
        line.say(socket ? 'y' : 'n');
        line.hear();
    });
    ASSERT_EQ(client.hear(), 'y');
    ASSERT_EQ(ask(server, 'g'), 'a');  // and reads nothing
    const auto both = [this] { return of(pod_a).memory + of(pod_b).memory; };
    EXPECT_TRUE(eventually([&] { return both() >= 64_KiB; })) << both().value;
    EXPECT_LT(both(), 16_MiB);
    if (hierarchies().v2) {
        const auto counted = [this] { return cgroups_.stat(pod_a, "sock") + cgroups_.stat(pod_b, "sock"); };
        EXPECT_TRUE(eventually([&] { return std::abs(counted() - both().value) <= (512_KiB).value; }))
            << counted() << " in memory.stat, " << both().value << " here";
    }
    ::kill(client.pid(), SIGKILL);
    ::kill(server.pid(), SIGKILL);
    EXPECT_TRUE(eventually([&] { return both() == Bytes{0}; })) << both().value;
}

TEST_F(Sockets, APodWhoseCgroupHasNoMemoryForThemIsNamed) {
    if (hierarchies().v2) {
        GTEST_SKIP() << "a v2 cgroup at its limit has its OOM kill, and no memory of sockets is refused before";
    }
    if (!cgroups_.write(pod_a, "memory.kmem.tcp.limit_in_bytes", "65536") ||
        !cgroups_.write(in_a, "memory.kmem.tcp.limit_in_bytes", "65536")) {
        GTEST_SKIP() << "this kernel does not limit sockets' memory by v1 cgroup";
    }
    PodProcess pod(cgroups_, in_a, [&](const Line& line) {
        line.hear();
        const auto listener = make_socket(AF_INET, SOCK_STREAM);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        (void)::bind(listener.get(), generic, size);
        (void)::listen(listener.get(), 64);
        (void)::getsockname(listener.get(), generic, &size);
        const std::string much(64 * 1024, 'm');
        std::vector<sys::Fd> open;
        for (int i = 0; i < 64; i++) {  // each holds what it was sent; at most 64 MiB in all, within the limit
            const auto& client = open.emplace_back(connect_to(address.sin_port));
            open.emplace_back(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK));
            for (int j = 0; j < 16; j++) (void)::send(client.get(), much.data(), much.size(), MSG_DONTWAIT);
        }
        line.hear();
    });
    pod.say('g');
    const auto event = wait_for<SocketMemoryShort>(
        [&](const SocketMemoryShort& memory) { return memory.cgroup == cgroups_.id(pod_a); });
    ASSERT_TRUE(event);
    const auto& memory = std::get<SocketMemoryShort>(event->kind);
    EXPECT_EQ(memory.protocol, "TCP");
    EXPECT_GT(memory.limit, memory.pressure);
    EXPECT_GT(memory.pressure, Bytes{0});
    EXPECT_FALSE(memory.of_node()) << "the machine has plenty";
}

}  // namespace
}  // namespace evictd::kernel_test

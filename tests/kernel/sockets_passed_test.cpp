// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whose a socket is that another pod's process got hold of: inherited, or passed over a Unix socket.
#include <cstring>
#include <string>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "kernel/sockets_fixture.hpp"

namespace evictd::kernel_test {
namespace {

TEST_F(Sockets, InheritedByAnotherPodsProcessAreStillTheMakers) {
    PodProcess a(cgroups_, in_a, [&](const Line& line) {
        auto socket = make_socket(AF_INET, SOCK_STREAM);
        int go[2]{};
        if (::pipe(go) != 0) return;
        if (::fork() == 0) {
            cgroups_.enter(in_b, ::getpid());
            char word = 0;
            (void)!::read(go[0], &word, 1);
            ::_exit(0);  // the last to hold it
        }
        line.say(socket ? 'm' : 'n');
        line.hear();
        socket.reset();
        line.say('c');
        line.hear();
        (void)!::write(go[1], "x", 1);
        line.hear();
    });
    ASSERT_EQ(a.hear(), 'm');
    EXPECT_EQ(open(pod_a), 1);
    a.say('g');
    ASSERT_EQ(a.hear(), 'c');
    EXPECT_EQ(open(pod_a), 1) << "its child holds it";
    a.say('g');
    EXPECT_TRUE(comes_to(pod_a, 0)) << "closed by a process of another pod";
    EXPECT_EQ(open(pod_b), 0);
}

// An address of this test alone, which no file stands for.
sockaddr_un meeting_point() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto name = "evictd-test-" + std::to_string(::getpid());
    std::memcpy(&address.sun_path[1], name.data(), name.size());
    return address;
}

bool send_fd(int over, int fd) {
    char letter = 'f';
    iovec part{&letter, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &fd, sizeof(fd));
    return ::sendmsg(over, &message, 0) == 1;
}

int receive_fd(int over) {
    char letter = 0;
    iovec part{&letter, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    int fd = -1;
    if (::recvmsg(over, &message, 0) == 1 && CMSG_FIRSTHDR(&message) != nullptr) {
        std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
    }
    return fd;
}

const sockaddr* generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

// Receives a descriptor when one comes, and lets go of it when it is told to.
PodProcess::Body hold_what_comes(const sockaddr_un& address) {
    return [&address](const Line& line) {
        const auto listener = make_socket(AF_UNIX, SOCK_STREAM);
        const bool listens =
            ::bind(listener.get(), generic(address), sizeof(address)) == 0 && ::listen(listener.get(), 1) == 0;
        line.say(listens ? 'l' : 'n');
        const sys::Fd from(::accept(listener.get(), nullptr, nullptr));
        sys::Fd got(receive_fd(from.get()));
        line.say(got ? 'h' : 'n');
        line.hear();
        got.reset();
        line.say('c');
        line.hear();
    };
}

// Makes a socket, and passes it on when it is told to.
PodProcess::Body pass_one_on(const sockaddr_un& address) {
    return [&address](const Line& line) {
        const auto to = make_socket(AF_UNIX, SOCK_STREAM);
        auto socket = make_socket(AF_INET, SOCK_DGRAM);
        line.say('m');
        line.hear();
        const bool sent =
            ::connect(to.get(), generic(address), sizeof(address)) == 0 && send_fd(to.get(), socket.get());
        socket.reset();
        line.say(sent ? 's' : 'n');
        line.hear();
    };
}

TEST_F(Sockets, PassedToAnotherPodAreStillTheMakers) {
    const auto address = meeting_point();
    PodProcess b(cgroups_, in_b, hold_what_comes(address));
    ASSERT_EQ(b.hear(), 'l');
    PodProcess a(cgroups_, in_a, pass_one_on(address));
    ASSERT_EQ(a.hear(), 'm');
    if (!hierarchies().v2) {
        EXPECT_EQ(open(pod_a), 1) << "on v1 it is whose process a pass has found holding it";
    }
    a.say('g');
    ASSERT_EQ(a.hear(), 's');
    ASSERT_EQ(b.hear(), 'h');
    EXPECT_EQ(open(pod_a), 1) << "another pod's process holds it";
    EXPECT_EQ(open(pod_b), 0);
    b.say('g');
    ASSERT_EQ(b.hear(), 'c');
    EXPECT_EQ(open(pod_a), 0);
    EXPECT_EQ(open(pod_b), 0) << "it had none to lose";
}

TEST_F(Sockets, OfAPodThatIsGoneAreTheHolders) {
    const auto address = meeting_point();
    PodProcess b(cgroups_, in_b, hold_what_comes(address));
    ASSERT_EQ(b.hear(), 'l');
    {
        const PodProcess a(cgroups_, in_a, pass_one_on(address));
        ASSERT_EQ(a.hear(), 'm');
        EXPECT_EQ(open(pod_a), 1);
        a.say('g');
        ASSERT_EQ(a.hear(), 's');
        ASSERT_EQ(b.hear(), 'h');
    }
    const auto id = cgroups_.id(pod_a);
    remove_pod(pod_a, in_a);
    EXPECT_EQ(open(pod_b), 1);
    expect_nothing_of(id);
    b.say('g');
    ASSERT_EQ(b.hear(), 'c');
    EXPECT_EQ(open(pod_b), 0);
}

}  // namespace
}  // namespace evictd::kernel_test

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which texts are endpoints, and which of the usual sockets is taken where none is configured.
#include "cri/endpoint.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "fakes/temp_dir.hpp"
#include "sys/fd.hpp"

namespace evictd::cri {
namespace {

TEST(Endpoint, IsAUnixSocketsPath) {
    EXPECT_EQ(find_endpoint("unix:///run/containerd/containerd.sock"), "/run/containerd/containerd.sock");
    EXPECT_EQ(find_endpoint("/run/crio/crio.sock"), "/run/crio/crio.sock");
    EXPECT_EQ(find_endpoint("unix:/run/crio/crio.sock"), "/run/crio/crio.sock") << "as the kubelet reads it";
    for (const auto* none : {"tcp://127.0.0.1:1", "npipe:////./pipe/x", "unix://relative", "run/x.sock", "unix://",
                             "unix:///run/containerd/", "/"}) {
        const auto found = find_endpoint(none);
        ASSERT_FALSE(found) << none;
        EXPECT_EQ(found.error().kind, ErrorKind::invalid);
    }
    EXPECT_TRUE(find_endpoint("/" + std::string(106, 'a')));
    EXPECT_FALSE(find_endpoint("/" + std::string(107, 'a')));
}

class EndpointTest : public ::testing::Test {
protected:
    void listen(const std::string& path) {
        sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        listeners.emplace_back(::socket(AF_UNIX, SOCK_STREAM, 0));
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as the system call has it
        ASSERT_EQ(::bind(listeners.back().get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
    const fakes::TempDir directory;
    const std::string first = directory / "first.sock";
    const std::string second = directory / "second.sock";
    std::vector<sys::Fd> listeners;
    Endpoint endpoint{"", {first, second}};
};

TEST_F(EndpointTest, IsLookedForUntilItIsThere) {
    const auto none = endpoint.find();
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::unreachable);
    EXPECT_EQ(none.error().why, "none at " + first + " or " + second);
    EXPECT_EQ(endpoint.found(), "");
    listen(second);
    EXPECT_EQ(endpoint.found(), "") << "nobody has looked";
    EXPECT_EQ(endpoint.find(), second);
    EXPECT_EQ(endpoint.found(), second);
}

TEST_F(EndpointTest, OneThatAnsweredStaysTheSameWhileItIsAway) {
    listen(second);
    EXPECT_EQ(endpoint.find(), second);
    endpoint.note_call(second, true);
    endpoint.note_call(second, false);
    ASSERT_EQ(::unlink(second.c_str()), 0);
    listen(first);
    EXPECT_EQ(endpoint.find(), second);
}

TEST_F(EndpointTest, OneThatDoesNotAnswerGivesWayToTheNext) {
    listen(first);
    EXPECT_EQ(endpoint.find(), first);
    endpoint.note_call(first, false);
    EXPECT_EQ(endpoint.find(), first) << "there is no other";
    listen(second);
    EXPECT_EQ(endpoint.find(), second);
    endpoint.note_call(first, false);
    endpoint.note_call(second, false);
    EXPECT_EQ(endpoint.find(), first) << "it may have been slow";
    endpoint.note_call(second, true);
    endpoint.note_call(first, true);
    endpoint.note_call(first, false);
    EXPECT_EQ(endpoint.find(), first) << "it is the runtime";
}

TEST_F(EndpointTest, OneThatIsNotToBeTrustedIsNotTaken) {
    listen(first);
    ASSERT_EQ(::chmod(directory.path().c_str(), 0777), 0);
    EXPECT_FALSE(endpoint.find());
    EXPECT_EQ(endpoint.found(), "");
    ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
    EXPECT_EQ(endpoint.find(), first);
}

TEST_F(EndpointTest, AConfiguredOneIsKnownBeforeItIsThere) {
    Endpoint configured("unix://" + second, {first});
    listen(first);
    EXPECT_EQ(configured.find(), second);
    configured.note_call(second, false);
    EXPECT_EQ(configured.find(), second);
    Endpoint wrong("tcp://10.0.0.1:1", {first});
    EXPECT_EQ(wrong.find().error().kind, ErrorKind::invalid);
    EXPECT_EQ(wrong.found(), "");
}

}  // namespace
}  // namespace evictd::cri

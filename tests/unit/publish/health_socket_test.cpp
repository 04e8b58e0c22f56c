// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Who connects hears one line, and nothing that a client does holds up the next one.
#include "publish/health_socket.hpp"

#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "fakes/temp_dir.hpp"
#include "publish/status_client.hpp"
#include "publish/unix_address.hpp"
#include "sys/clock.hpp"

namespace evictd::publish {
namespace {

using namespace std::chrono_literals;

struct HealthSocketTest : ::testing::Test {
    void listen() {
        auto made = HealthSocket::make(loop, path, [this] { return "answer " + std::to_string(++answers); });
        ASSERT_TRUE(made) << made.error().text();
        socket = std::move(*made);
    }
    // The client waits in a thread of its own, as it is a program of its own.
    Result<std::string> hear() {
        Result<std::string> heard = fail(ErrorKind::failed, "client", "did not run");
        std::thread client([&] {
            auto connected = StatusClient::connect(path);
            heard = connected ? connected->hear() : tl::unexpected(connected.error());
        });
        const int before = answers;
        for (int turns = 0; answers == before && turns < 10; ++turns) (void)loop.run_once(1s);
        client.join();
        return heard;
    }

    fakes::TempDir temp;
    std::string directory = temp / "run";
    std::string path = directory + "/evictd.sock.health";
    sys::Loop loop = std::move(*sys::Loop::make());
    int answers = 0;
    std::unique_ptr<HealthSocket> socket;
};

TEST_F(HealthSocketTest, EachConnectionHearsTheStateOfNow) {
    listen();
    EXPECT_EQ(hear().value(), "answer 1");
    EXPECT_EQ(hear().value(), "answer 2");
}

// What evictd.socketPath may be.
TEST_F(HealthSocketTest, APathOf100BytesHasRoomForIt) {
    EXPECT_TRUE(unix_address(health_socket_path(std::string(100, 's'))));
    EXPECT_FALSE(unix_address(health_socket_path(std::string(101, 's'))));
}

TEST_F(HealthSocketTest, IsForRootAndItsUserOnlyAndGoesWithItsOwner) {
    listen();
    struct stat there {};
    ASSERT_EQ(::stat(path.c_str(), &there), 0);
    EXPECT_EQ(there.st_mode & 0777U, 0600U);
    ASSERT_EQ(::stat(directory.c_str(), &there), 0);
    EXPECT_EQ(there.st_mode & 0777U, 0700U);
    socket.reset();
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(StatusClient::connect(path).error().kind, ErrorKind::unreachable);
}

TEST_F(HealthSocketTest, ClientsThatDoNotReadOrAreGoneHoldUpNoOther) {
    listen();
    std::vector<StatusClient> silent;
    for (int i = 0; i < 20; ++i) {
        auto client = StatusClient::connect(path);
        ASSERT_TRUE(client);
        if (i % 2 == 0) silent.push_back(std::move(*client));  // the others hang up before they are accepted
    }
    for (int turns = 0; answers < 20 && turns < 100; ++turns) (void)loop.run_once(1s);
    EXPECT_EQ(hear().value(), "answer 21");
}

// A connection that waits is reported until it is accepted.
TEST_F(HealthSocketTest, WithoutADescriptorItPausesAndThenAnswers) {
    listen();
    auto client = StatusClient::connect(path);
    ASSERT_TRUE(client);
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    const sys::SystemClock clock;
    const auto begin = clock.monotonic();
    int turns = 0;
    while (clock.monotonic() - begin < 2 * UnixAcceptor::pause && turns < 1000) {
        (void)loop.run_once(UnixAcceptor::pause);
        ++turns;
    }
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    EXPECT_LT(turns, 12);
    EXPECT_EQ(answers, 0);
    for (turns = 0; answers == 0 && turns < 10; ++turns) (void)loop.run_once(1s);
    EXPECT_EQ(client->hear().value(), "answer 1");
}

TEST_F(HealthSocketTest, TakesTheSocketOfADeadAgentAndNoOtherFile) {
    listen();
    const auto second = HealthSocket::make(loop, path, [] { return ""; });
    ASSERT_FALSE(second) << "one that is alive keeps its own";
    socket.reset();
    std::ofstream(path) << "precious";
    EXPECT_FALSE(HealthSocket::make(loop, path, [] { return ""; }));
    EXPECT_TRUE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace evictd::publish

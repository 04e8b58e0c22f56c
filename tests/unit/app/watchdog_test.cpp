// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whether the service manager is told that all is well.
#include "app/watchdog.hpp"

#include <atomic>
#include <future>

#include <gtest/gtest.h>
#include <unistd.h>

#include "fakes/fake_clock.hpp"
#include "publish/status_client.hpp"

namespace evictd::app {
namespace {

using namespace std::chrono_literals;

struct Watchdogs : testing::Test {
    Watchdogs() { clock.set(sys::SystemClock().monotonic() + 1h); }
    // What it says first.
    std::pair<bool, std::string> look() {
        std::promise<std::pair<bool, std::string>> said;
        bool first = true;
        const auto tell = [&](bool alive) {
            return [&said, &first, alive](const std::string& text) {
                if (std::exchange(first, false)) said.set_value({alive, text});
            };
        };
        auto watchdog = Watchdog::make({.proof = proof, .alive = tell(true), .withheld = tell(false)});
        return said.get_future().get();
    }
    fakes::FakeClock clock;
    sys::ProofOfLife proof{clock};
    sys::Loop loop = std::move(*sys::Loop::make());
};

TEST_F(Watchdogs, PingsWhileAllAnswer) {
    const auto watched = proof.watch("main", loop, sys::Duty::main);
    EXPECT_EQ(look(), std::pair(true, std::string("1 threads are alive")));
}

TEST_F(Watchdogs, WithholdsThePingFromTheBoundOn) {
    const auto watched = proof.watch("evictd-scores", loop, sys::Duty::vital);
    (void)proof.check();
    clock.advance(61s);
    EXPECT_EQ(look(), std::pair(false, std::string("evictd-scores has not answered for 61 s")));
}

TEST_F(Watchdogs, ReportsATaskThatLastsLongOnce) {
    const auto watched = proof.watch("evictd-cache", loop, sys::Duty::expendable);
    (void)proof.check();
    clock.advance(7s);
    testing::internal::CaptureStderr();
    std::atomic<int> looks = 0;
    std::promise<void> often;
    {
        auto watchdog = Watchdog::make({.proof = proof,
                                        .alive =
                                            [&](const std::string&) {
                                                if (++looks == 3) often.set_value();
                                            },
                                        .withheld = [](const std::string&) {},
                                        .period = 1ms});
        often.get_future().wait();
    }
    const auto said = testing::internal::GetCapturedStderr();
    const std::string line = "watchdog: evictd-cache is busy with one task for 7 s";
    EXPECT_NE(said.find(line), std::string::npos) << said;
    EXPECT_EQ(said.find(line), said.rfind(line)) << said;
}

TEST_F(Watchdogs, WithholdsThePingAfterAFailure) {
    proof.fail("evictd-pods", {ErrorKind::failed, "event loop", "a callback failed: x", ""});
    EXPECT_EQ(look(), std::pair(false, std::string("evictd-pods failed")));
}

// What a probe hears, from the moment on at which the service manager hears that all is well or not.
TEST_F(Watchdogs, AnswersProbes) {
    const auto path = "/tmp/evictd-watchdog-" + std::to_string(::getpid()) + ".health";
    const auto heard = [&](std::function<bool()> is_ready) {
        std::promise<void> looked;
        auto once = [&looked, first = true](const std::string& /*text*/) mutable {
            if (std::exchange(first, false)) looked.set_value();
        };
        auto watchdog = Watchdog::make(
            {.proof = proof, .alive = once, .withheld = once, .health_path = path, .is_ready = std::move(is_ready)});
        looked.get_future().wait();
        auto client = publish::StatusClient::connect(path);
        return client ? client->hear().value_or("") : client.error().text();
    };
    EXPECT_EQ(heard([] { return true; }), R"({"v":1,"alive":true,"ready":true})");
    EXPECT_EQ(heard([] { return false; }), R"({"v":1,"alive":true,"ready":false,"detail":"no observation yet"})");
    const auto watched = proof.watch("main", loop, sys::Duty::main);
    (void)proof.check();
    clock.advance(21s);
    EXPECT_EQ(heard([] { return true; }),
              R"({"v":1,"alive":false,"ready":false,"detail":"main has not answered for 21 s"})");
}

TEST_F(Watchdogs, AsksThreeTimesInTheManagersPeriod) {
    EXPECT_EQ(watchdog_period(30s), 10s);
    EXPECT_EQ(watchdog_period(3s), 1s);
    EXPECT_EQ(watchdog_period(10min), 10s);
    EXPECT_EQ(watchdog_period(std::nullopt), 10s);
}

}  // namespace
}  // namespace evictd::app

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The word on a shutdown over a real bus of the test's own (dbus-daemon), where a connection of the test is logind.
#include "sys/logind.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "fakes/temp_dir.hpp"

namespace evictd::sys {
namespace {

using namespace std::chrono_literals;

constexpr auto path = "/org/freedesktop/login1";
constexpr auto interface = "org.freedesktop.login1.Manager";

// Generous: only a failing test waits for it.
bool wait_until(const std::function<bool()>& holds, int turns = 10'000) {
    for (int i = 0; i < turns; i++) {
        if (holds()) return true;
        std::this_thread::sleep_for(2ms);
    }
    return false;
}

class LogindTest : public ::testing::Test {
protected:
    void SetUp() override {
        // The policy of the system bus as D-Bus ships it, and what systemd's org.freedesktop.login1.conf opens.
        dir.write("bus.conf",
                  "<busconfig><type>system</type><listen>unix:path=" + socket_path() +
                      "</listen><auth>EXTERNAL</auth><policy context='default'><allow user='*'/><deny own='*'/>"
                      "<deny send_type='method_call'/><allow send_type='signal'/>"
                      "<allow send_requested_reply='true' send_type='method_return'/>"
                      "<allow send_requested_reply='true' send_type='error'/><allow receive_type='method_call'/>"
                      "<allow receive_type='method_return'/><allow receive_type='error'/>"
                      "<allow receive_type='signal'/><allow send_destination='org.freedesktop.DBus'/>"
                      "<allow send_destination='org.freedesktop.login1'/></policy>"
                      "<policy user='root'><allow own='org.freedesktop.login1'/></policy></busconfig>");
        setenv("DBUS_SYSTEM_BUS_ADDRESS", ("unix:path=" + socket_path()).c_str(), 1);
    }
    void TearDown() override {
        stop_logind();
        stop_bus();
        unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
    }
    [[nodiscard]] std::string socket_path() const { return dir / "bus"; }
    // False: there is no dbus-daemon.
    bool start_bus() {
        const std::string config = "--config-file=" + (dir / "bus.conf");
        std::array<char*, 4> arguments{const_cast<char*>("dbus-daemon"), const_cast<char*>("--nofork"),
                                       const_cast<char*>(config.c_str()), nullptr};
        if (posix_spawnp(&daemon, "dbus-daemon", nullptr, nullptr, arguments.data(), environ) != 0) return false;
        return wait_until([&] { return sd_bus_open_system(&own) >= 0 && is_ready(); });
    }
    void stop_bus() {
        if (daemon <= 0) return;
        kill(daemon, SIGKILL);
        waitpid(std::exchange(daemon, 0), nullptr, 0);
        (void)unlink(socket_path().c_str());
    }
    bool is_ready() {
        const char* name = nullptr;
        if (sd_bus_get_unique_name(own, &name) >= 0) return true;
        own = sd_bus_close_unref(own);
        return false;
    }
    static int preparing(sd_bus* /*bus*/, const char* /*path*/, const char* /*interface*/, const char* /*property*/,
                         sd_bus_message* reply, void* self, sd_bus_error* /*error*/) {
        auto& test = *static_cast<LogindTest*>(self);
        ++test.asked;
        return sd_bus_message_append(reply, "b", test.is_preparing ? 1 : 0);
    }
    void start_logind() {
        static const std::array<sd_bus_vtable, 4> table{
            {SD_BUS_VTABLE_START(0), SD_BUS_PROPERTY("PreparingForShutdown", "b", preparing, 0, 0),
             SD_BUS_SIGNAL("PrepareForShutdown", "b", 0), SD_BUS_VTABLE_END}};
        ASSERT_GE(sd_bus_add_object_vtable(own, nullptr, path, interface, table.data(), this), 0);
        ASSERT_GE(sd_bus_request_name(own, "org.freedesktop.login1", 0), 0);
        is_over = false;
        server = std::thread([this] {
            while (!is_over) {
                while (sd_bus_process(own, nullptr) > 0) {}
                if (const int word = to_send.exchange(-1); word >= 0) {
                    sd_bus_emit_signal(own, path, interface, "PrepareForShutdown", "b", word);
                    sd_bus_flush(own);
                }
                sd_bus_wait(own, 2000);
            }
        });
    }
    void stop_logind() {
        is_over = true;
        if (server.joinable()) server.join();
        own = sd_bus_close_unref(own);
    }

    fakes::TempDir dir;
    pid_t daemon = 0;
    sd_bus* own = nullptr;
    std::thread server;
    std::atomic<bool> is_over = false;
    std::atomic<bool> is_preparing = false;
    std::atomic<int> to_send = -1;
    std::atomic<int> asked = 0;

    [[nodiscard]] Logind::OnWord hear() {
        return [this](const LogindWord& said) {
            const std::scoped_lock lock(mutex);
            words.push_back(said);
            return is_taken.load();
        };
    }
    LogindWord last() {
        const std::scoped_lock lock(mutex);
        return words.empty() ? LogindWord{.shuts_down = false, .said_at = {}, .problem = "none yet"} : words.back();
    }
    std::size_t count() {
        const std::scoped_lock lock(mutex);
        return words.size();
    }
    bool comes_to(bool shuts_down) {
        return wait_until([&] { return last().problem.empty() && last().shuts_down == shuts_down; });
    }
    bool fails_with(const std::string& problem) {
        return wait_until([&] { return last().problem.find(problem) != std::string::npos; });
    }
    std::mutex mutex;
    std::vector<LogindWord> words;
    std::atomic<bool> is_taken = true;
};
// Nothing is asked again by itself while the test runs.
constexpr Logind::Periods by_signals{.answer = 60s, .again = 600s, .longest = 600s, .repeat = 600s};
constexpr Logind::Periods quick{.answer = 50ms, .again = 10ms, .longest = 10ms, .repeat = 5ms};

TEST_F(LogindTest, ALogindThatComesLaterIsHeardAtOnce) {
    if (!start_bus()) GTEST_SKIP() << "there is no dbus-daemon";
    const auto logind = Logind::start(hear(), by_signals);
    ASSERT_TRUE(logind) << logind.error().text();
    EXPECT_TRUE(fails_with("PreparingForShutdown cannot be read")) << last().problem;
    is_preparing = true;
    start_logind();
    EXPECT_TRUE(comes_to(true)) << last().problem;
}

TEST_F(LogindTest, AShutdownIsHeardAndSoIsItsEnd) {
    if (!start_bus()) GTEST_SKIP() << "there is no dbus-daemon";
    start_logind();
    const auto logind = Logind::start(hear(), by_signals);
    ASSERT_TRUE(logind) << logind.error().text();
    EXPECT_TRUE(comes_to(false)) << last().problem;
    is_preparing = true;
    to_send = 1;
    EXPECT_TRUE(comes_to(true));
    is_preparing = false;
    to_send = 0;
    EXPECT_TRUE(comes_to(false));
}

// What a signal carries counts for nothing.
TEST_F(LogindTest, TheAnswerIsBelievedAndNotTheSignal) {
    if (!start_bus()) GTEST_SKIP() << "there is no dbus-daemon";
    start_logind();
    const auto logind = Logind::start(hear(), by_signals);
    ASSERT_TRUE(logind) << logind.error().text();
    EXPECT_TRUE(comes_to(false)) << last().problem;
    is_preparing = true;
    to_send = 0;
    EXPECT_TRUE(comes_to(true));
}

// The bus gives a signal for everybody to a match on logind's name only if logind sent it. One that is sent straight to
// a connection it gives to it in any case.
TEST_F(LogindTest, TheSignalsOfOthersAreNotHeard) {
    if (!start_bus()) GTEST_SKIP() << "there is no dbus-daemon";
    start_logind();
    const auto logind = Logind::start(hear(), by_signals);
    ASSERT_TRUE(logind) << logind.error().text();
    EXPECT_TRUE(comes_to(false)) << last().problem;
    const int asked_before = asked;
    sd_bus* other = nullptr;
    ASSERT_GE(sd_bus_open_system(&other), 0);
    ASSERT_GE(sd_bus_emit_signal(other, path, interface, "PrepareForShutdown", "b", 1), 0);
    for (int i = 0; i < 20; i++) {
        sd_bus_message* signal = nullptr;
        ASSERT_GE(sd_bus_message_new_signal(other, &signal, path, interface, "PrepareForShutdown"), 0);
        ASSERT_GE(sd_bus_message_append(signal, "b", 1), 0);
        ASSERT_GE(sd_bus_message_set_destination(signal, (":1." + std::to_string(i)).c_str()), 0);
        ASSERT_GE(sd_bus_send(other, signal, nullptr), 0);
        sd_bus_message_unref(signal);
    }
    sd_bus_flush(other);
    sd_bus_close_unref(other);
    EXPECT_FALSE(wait_until([&] { return last().shuts_down || asked != asked_before; }, 150));
    is_preparing = true;
    to_send = 1;
    EXPECT_TRUE(comes_to(true)) << "logind's own is heard";
}

TEST_F(LogindTest, WhileItShutsDownItIsAskedAgainAndEachAnswerIsTold) {
    if (!start_bus()) GTEST_SKIP() << "there is no dbus-daemon";
    is_preparing = true;
    start_logind();
    const auto logind = Logind::start(hear(), quick);
    ASSERT_TRUE(logind) << logind.error().text();
    EXPECT_TRUE(comes_to(true)) << last().problem;
    const auto first = last().said_at;
    EXPECT_TRUE(wait_until([&] { return last().said_at > first; }));
    EXPECT_TRUE(last().shuts_down);
    is_preparing = false;  // without a signal
    EXPECT_TRUE(comes_to(false));
}

// A change of which no signal came: a bus drops what a slow reader does not take.
TEST_F(LogindTest, WithoutAShutdownItIsAskedAgainToo) {
    if (!start_bus()) GTEST_SKIP() << "there is no dbus-daemon";
    start_logind();
    const auto logind = Logind::start(hear(), quick);
    ASSERT_TRUE(logind) << logind.error().text();
    EXPECT_TRUE(comes_to(false)) << last().problem;
    is_preparing = true;
    EXPECT_TRUE(comes_to(true));
}

TEST_F(LogindTest, AWordThatWasNotTakenIsSaidAgain) {
    if (!start_bus()) GTEST_SKIP() << "there is no dbus-daemon";
    start_logind();
    is_taken = false;
    const auto logind = Logind::start(hear(), quick);
    ASSERT_TRUE(logind) << logind.error().text();
    EXPECT_TRUE(comes_to(false)) << last().problem;
    const auto before = count();
    EXPECT_TRUE(wait_until([&] { return count() > before + 1; }));
    EXPECT_FALSE(last().shuts_down);
}

TEST_F(LogindTest, WhenTheBusGoesAwayItsLastWordStaysAndIsOld) {
    if (!start_bus()) GTEST_SKIP() << "there is no dbus-daemon";
    is_preparing = true;
    start_logind();
    const auto logind = Logind::start(hear(), quick);
    ASSERT_TRUE(logind) << logind.error().text();
    EXPECT_TRUE(comes_to(true)) << last().problem;
    stop_logind();
    EXPECT_TRUE(fails_with("PreparingForShutdown cannot be read")) << last().problem;
    stop_bus();
    EXPECT_TRUE(fails_with("the system bus")) << last().problem;
    EXPECT_TRUE(last().shuts_down);
    const auto said_at = last().said_at;
    is_preparing = false;
    ASSERT_TRUE(start_bus());
    start_logind();
    EXPECT_TRUE(comes_to(false)) << last().problem;
    EXPECT_GT(last().said_at, said_at);
}

// Its connection is taken by the kernel, and no byte comes back.
TEST_F(LogindTest, ABusThatNeverAnswersHoldsUpNothing) {
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_GE(listener, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_path().copy(address.sun_path, sizeof(address.sun_path) - 1);
    ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_EQ(listen(listener, 64), 0);
    auto logind = Logind::start(hear(), quick);
    ASSERT_TRUE(logind) << logind.error().text();
    EXPECT_TRUE(fails_with("does not answer")) << last().problem;
    EXPECT_EQ(last().said_at, MonotonicTime{});
    close(listener);
    (void)unlink(socket_path().c_str());
    if (!start_bus()) GTEST_SKIP() << "there is no dbus-daemon";
    start_logind();
    EXPECT_TRUE(comes_to(false)) << last().problem;
}

}  // namespace
}  // namespace evictd::sys

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The other agents' part is played by children. That a process is dead or dying is the kernel's word: no test waits for
// a time to pass but where it is the patience itself.
#include "sys/lock_file.hpp"

#include <array>
#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fakes/temp_dir.hpp"

namespace evictd::sys {
namespace {

namespace fs = std::filesystem;

LockRequest request(Duration patience = Duration::zero()) {
    return {.name = "pods-7",
            .object = "/kubepods",
            .holder = "another evictd works on these pods",
            .remedy = "stop it first",
            .patience = patience};
}

// Does its part, says so, and waits to be killed.
class Child {
public:
    explicit Child(const std::function<bool()>& part) {
        std::array<int, 2> ends{};
        EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            const char said = part() ? 'y' : 'n';
            (void)!::write(ends[1], &said, 1);
            while (true) ::pause();
        }
        ::close(ends[1]);
        char said = 0;
        EXPECT_EQ(::read(ends[0], &said, 1), 1);
        EXPECT_EQ(said, 'y');
        ::close(ends[0]);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        kill();
        reap();
    }
    void kill() const {
        if (pid_ > 0) ::kill(pid_, SIGKILL);  // 0 would be our own process group
    }
    void reap() {
        if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    // Dead, and still a zombie.
    void await_death() const {
        siginfo_t info{};
        ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
    }
    [[nodiscard]] pid_t pid() const { return pid_; }

private:
    pid_t pid_ = 0;
};

class Locks : public ::testing::Test {
protected:
    fakes::TempDir temp;
    std::string directory = temp / "run/locks";
    Result<LockFile> take(const LockRequest& wanted) { return LockFile::take(wanted, directory); }
};

TEST_F(Locks, AreOneProcesssAndLeaveNothing) {
    auto first = take(request());
    ASSERT_TRUE(first) << first.error().text();
    const auto second = take(request());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::unreachable);
    EXPECT_NE(second.error().why.find("another evictd works on these pods: process " + std::to_string(::getpid())),
              std::string::npos)
        << second.error().text();
    first->release();
    EXPECT_TRUE(fs::is_empty(directory));
    EXPECT_TRUE(take(request()));
    EXPECT_TRUE(fs::is_empty(directory));
}

TEST_F(Locks, OfAProcessThatIsDeadAndNotReapedAreFree) {
    Child agent([&] {
        static auto held = take(request());
        return held.has_value();
    });
    ASSERT_FALSE(take(request())) << "it is alive";
    agent.kill();
    agent.await_death();
    const auto taken = take(request());
    EXPECT_TRUE(taken) << taken.error().text();
}

// The first moment after kill -9: the dead one may still have its descriptors.
TEST_F(Locks, OfAProcessThatIsBeingKilledAreWaitedFor) {
    for (int round = 0; round < 20; round++) {
        Child agent([&] {
            static auto held = take(request());
            static const std::vector<char> memory(std::size_t{8} << 20U, 'x');  // takes a moment to be freed
            return held.has_value() && memory[1] == 'x';
        });
        agent.kill();
        const auto taken = take(request(std::chrono::seconds(10)));
        EXPECT_TRUE(taken) << round << ": " << taken.error().text();
    }
}

// Its descriptors live on in a child of its own that knows nothing of the lock.
TEST_F(Locks, OfADeadProcessAreTakenThoughItsDescriptorsLiveOn) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    Child agent([&] {
        static auto held = take(request());
        if (::fork() == 0) {
            char byte = 0;
            ::close(ends[1]);
            (void)!::read(ends[0], &byte, 1);
            ::_exit(0);
        }
        return held.has_value();
    });
    agent.kill();
    agent.reap();
    auto taken = take(request(std::chrono::seconds(10)));
    ASSERT_TRUE(taken) << taken.error().text();
    EXPECT_FALSE(take(request())) << "the new holder counts";
    auto shared = request(std::chrono::milliseconds(20));
    shared.is_shared_with_children = true;
    EXPECT_FALSE(take(shared));
    ::close(ends[1]);
    ::close(ends[0]);
}

TEST_F(Locks, SharedWithAChildAreNotTakenBeforeTheChildEnded) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    auto shared = request(std::chrono::milliseconds(30));
    shared.is_shared_with_children = true;
    Child agent([&] {
        static auto held = take(shared);
        if (::fork() == 0) {
            char byte = 0;
            ::close(ends[1]);
            (void)!::read(ends[0], &byte, 1);
            ::_exit(0);
        }
        return held.has_value();
    });
    agent.kill();
    agent.reap();
    EXPECT_FALSE(take(shared)) << "its guard may still write";
    ::close(ends[1]);  // the guard ends
    shared.patience = std::chrono::seconds(10);
    const auto taken = take(shared);
    EXPECT_TRUE(taken) << taken.error().text();
    ::close(ends[0]);
}

TEST_F(Locks, OfWhichNothingIsKnownCountAsHeld) {
    ASSERT_TRUE(take(request()));
    const std::string other_namespace = "99999999 1 1\n";
    for (const auto& text : {std::string(), std::string("x"), other_namespace}) {
        temp.write("run/locks/pods-7", text);
        ASSERT_EQ(::chmod((directory + "/pods-7").c_str(), 0600), 0);
        const Fd foreign(::open((directory + "/pods-7").c_str(), O_RDONLY | O_CLOEXEC));
        ASSERT_EQ(::flock(foreign.get(), LOCK_EX), 0);
        EXPECT_FALSE(take(request())) << text;
    }
}

TEST_F(Locks, WhatIsNoLockFileIsRefused) {
    ASSERT_TRUE(take(request()));
    temp.write("elsewhere", "precious");
    fs::create_symlink(temp / "elsewhere", directory + "/pods-7");
    EXPECT_FALSE(take(request()));
    fs::remove(directory + "/pods-7");
    ASSERT_EQ(::mkfifo((directory + "/pods-7").c_str(), 0600), 0);
    EXPECT_FALSE(take(request()));
    EXPECT_EQ(fs::file_size(temp / "elsewhere"), 8U);
}

// Twenty at once after a death: one gets it.
TEST_F(Locks, AreTakenOverByOneOnly) {
    for (int round = 0; round < 5; round++) {
        Child agent([&] {
            static auto held = take(request());
            return held.has_value();
        });
        agent.kill();
        agent.await_death();
        std::vector<std::thread> threads;
        std::array<std::optional<LockFile>, 8> taken;
        for (auto& one : taken) {
            threads.emplace_back([&] {
                if (auto got = take(request(std::chrono::seconds(10)))) one = std::move(*got);
            });
        }
        for (auto& thread : threads) thread.join();
        int count = 0;
        for (const auto& one : taken) count += one ? 1 : 0;
        EXPECT_EQ(count, 1);
    }
}

TEST(ProcessStates, AreTheKernelsWord) {
    EXPECT_EQ(state_of(this_process()), ProcessState::running);
    EXPECT_EQ(state_of(pid_t{0}), ProcessState::running);
    Child child([] { return true; });
    EXPECT_EQ(state_of(child.pid()), ProcessState::running);
    child.kill();
    EXPECT_NE(state_of(child.pid()), ProcessState::running) << "at once, whatever it was doing";
    child.await_death();
    EXPECT_EQ(state_of(child.pid()), ProcessState::ending);
    const pid_t pid = child.pid();
    child.reap();
    EXPECT_EQ(state_of(pid), ProcessState::gone);
    auto reborn = this_process();
    reborn.started += 1;
    EXPECT_EQ(state_of(reborn), ProcessState::gone) << "the pid is another process's";
    reborn.pid_namespace += 1;
    EXPECT_EQ(state_of(reborn), ProcessState::running) << "of another pid namespace nothing is known";
}

}  // namespace
}  // namespace evictd::sys

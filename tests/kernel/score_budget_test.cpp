// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The keeper of oom_score_adj over a pod with thousands of real processes: what it costs, and that all are reached. And
// what raising and putting back leaves of a process's own freedom.
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fakes/temp_dir.hpp"
#include "kernel/pod_cgroup.hpp"
#include "kernel/pod_process.hpp"
#include "kernel/proc_scores.hpp"
#include "reconcile/score_keeper.hpp"
#include "sys/file.hpp"

namespace evictd::kernel_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int many = 800;  // as many as an emulated CPU raises without waiting for the budget
constexpr int own_score = 300;

Duration thread_cpu_time() {
    timespec used{};
    (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

int oom_score_of(pid_t pid) {
    const auto text = sys::read_file("/proc/" + std::to_string(pid) + "/oom_score_adj", 64);
    return text ? std::stoi(*text) : -9999;
}

class ScoreBudget : public testing::Test {
protected:
    void make_pod(const PodProcess::Body& body = nullptr) {
        cgroups_.make("kubepods/podmany/app");
        first_.emplace(cgroups_, "kubepods/podmany/app", body);
        auto opened = kernel::CgroupHandle::open(hierarchies(), cgroups_.path("kubepods/podmany"));
        ASSERT_TRUE(opened);
        Pod pod;
        pod.uid = {"many"};
        pod.name_space = "default";
        pod.name = "many";
        pod_ = {std::make_shared<const Pod>(std::move(pod)), *opened};
        reconcile::ScoreOptions options{.policy = OomScoreAdjPolicy::enforce,
                                        .ledger_path = directory_ / "raised_scores",
                                        .wanted =
                                            [](const Pod&, const std::string&, Bytes) {
                                                return ScoreRange{own_score, own_score};
                                            },
                                        .cpu_time = thread_cpu_time};
        keeper_.emplace(scores_, clock_, options, [](const AgentNotice&) {});
    }
    void live(Duration time) {
        const auto end = clock_.monotonic() + time;
        while (clock_.monotonic() < end) {
            const auto due = keeper_->due().value_or(end);
            std::this_thread::sleep_for(
                std::clamp<Duration>(due - clock_.monotonic(), Duration::zero(), milliseconds(50)));
            keeper_->act_on_time();
        }
    }
    [[nodiscard]] int at_score(int score) {
        int count = 0;
        for (const pid_t pid : cgroups_.processes("kubepods/podmany/app")) count += oom_score_of(pid) == score ? 1 : 0;
        return count;
    }

    fakes::TempDir directory_;
    TestCgroups cgroups_;
    sys::SystemClock clock_;
    kernel::ProcScores scores_;
    std::optional<PodProcess> first_;
    reconcile::KeptPod pod_;
    std::optional<reconcile::ScoreKeeper> keeper_;
};

void become_many(const Line& line) {
    if (auto file = sys::open("/proc/self/oom_score_adj", O_WRONLY)) {
        (void)sys::write_text(file->get(), std::to_string(own_score));
    }
    for (int i = 1; i < many; i++) {
        if (::fork() == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            while (true) ::pause();
        }
    }
    line.say('m');
    while (true) ::pause();
}

TEST_F(ScoreBudget, ThousandsOfProcessesAreRaisedAndPutBackWithinTheBudget) {
    make_pod(become_many);
    ASSERT_TRUE(first_->hear(seconds(60)));
    ASSERT_EQ(at_score(own_score), many);
    const auto begin = clock_.monotonic();
    auto used = thread_cpu_time();
    for (int i = 0; i < 6; i++) {
        keeper_->look({pod_}, 1_GiB);
        live(seconds(1));
    }
    used = thread_cpu_time() - used;
    const auto share = (clock_.monotonic() - begin) * reconcile::budget_percent / 100;
    // The test's own waiting takes 60 ms of it, and an emulated CPU counts what the host took away.
    EXPECT_LT(used, share + milliseconds(600)) << "2 % of a CPU, a burst of 200 ms, and the test's own waiting";
    std::printf("[ %d processes: %lld ms of CPU time in 6 s ]\n", many, static_cast<long long>(used / milliseconds(1)));

    used = thread_cpu_time();
    keeper_->steer(pod_.pod->uid);
    const auto raising = thread_cpu_time() - used;
    for (int i = 0; i < 60 && at_score(1000) < many; i++) live(seconds(1));
    EXPECT_EQ(at_score(1000), many);
    used = thread_cpu_time();
    keeper_->release();
    const auto restoring = thread_cpu_time() - used;
    EXPECT_EQ(at_score(own_score), many);
    std::printf("[ raised in %lld ms, put back in %lld ms of CPU time ]\n",
                static_cast<long long>(raising / milliseconds(1)), static_cast<long long>(restoring / milliseconds(1)));
    EXPECT_LT(raising, milliseconds(1200)) << "1.5 ms a process: linear";
    EXPECT_LT(restoring, milliseconds(1200));
}

// Without CAP_SYS_RESOURCE, as a container's processes are.
void lower_when_asked(const Line& line) {
    __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> rights{};
    (void)::syscall(SYS_capset, &head, rights.data());
    if (auto file = sys::open("/proc/self/oom_score_adj", O_WRONLY)) {
        (void)sys::write_text(file->get(), std::to_string(own_score));  // its floor stays where it is
    }
    line.say('r');
    (void)line.hear();
    auto file = sys::open("/proc/self/oom_score_adj", O_WRONLY);
    line.say(file && sys::write_text(file->get(), std::to_string(own_score - 100)) ? 'y' : 'n');
    while (true) ::pause();
}

TEST_F(ScoreBudget, WhatWasRaisedAndPutBackMayLowerItselfAsBefore) {
    if (oom_score_of(::getpid()) > own_score - 100) GTEST_SKIP() << "this test itself has a score above that";
    make_pod(lower_when_asked);
    ASSERT_EQ(first_->hear(), 'r');
    keeper_->look({pod_}, 1_GiB);
    keeper_->steer(pod_.pod->uid);
    EXPECT_EQ(oom_score_of(first_->pid()), 1000);
    keeper_->release();
    EXPECT_EQ(oom_score_of(first_->pid()), own_score);
    first_->say('l');
    EXPECT_EQ(first_->hear(), 'y') << "oom_score_adj_min was moved";
}

}  // namespace
}  // namespace evictd::kernel_test

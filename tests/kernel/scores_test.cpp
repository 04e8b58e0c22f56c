// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// oom_score_adj of real processes: who writes to one is told, and it is read and written only where it should be.
#include <csignal>
#include <map>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/bpf_fixture.hpp"
#include "kernel/pod_cgroup.hpp"
#include "kernel/proc_scores.hpp"
#include "sys/file.hpp"

namespace evictd::kernel_test {
namespace {

std::string score_path(pid_t pid) { return "/proc/" + std::to_string(pid) + "/oom_score_adj"; }

void write_score(pid_t pid, int score) {
    auto file = sys::open(score_path(pid), O_WRONLY);
    ASSERT_TRUE(file);
    ASSERT_TRUE(sys::write_text(file->get(), std::to_string(score)));
}

int score_of(pid_t pid) {
    const auto text = sys::read_file(score_path(pid), 64);
    return text ? std::stoi(*text) : -9999;
}

class Scores : public WithBpf {
protected:
    void make_pod() {
        make_pods_root(std::nullopt);
        cgroups_.make("kubepods/podone/app");
        ASSERT_TRUE(bpf_->show_pods({{cgroups_.id("kubepods/podone"), evictd_pod{}}}));
    }
};

TEST_F(Scores, AWriteToOneOfAPodIsReported) {
    make_pod();
    PodProcess pod(cgroups_, "kubepods/podone/app");
    write_score(pod.pid(), 321);
    const auto event =
        wait_for<OomScoreChanged>([&](const OomScoreChanged& changed) { return changed.pid == pod.pid(); });
    ASSERT_TRUE(event);
    const auto& changed = std::get<OomScoreChanged>(event->kind);
    EXPECT_EQ(changed.oom_score_adj, 321);
    EXPECT_EQ(changed.cgroup, cgroups_.id("kubepods/podone/app"));
    EXPECT_EQ(changed.pod_cgroup, cgroups_.id("kubepods/podone"));
}

TEST_F(Scores, WritesInALoopAreNotReportedEachTime) {
    make_pod();
    PodProcess pod(cgroups_, "kubepods/podone/app");
    const auto begin = now();
    for (int i = 0; i < 2000; i++) write_score(pod.pid(), 300 + i % 2);
    const auto took = now() - begin;
    int told = 0;
    for (const auto& event : pending()) told += std::holds_alternative<OomScoreChanged>(event.kind) ? 1 : 0;
    EXPECT_GE(told, 1);
    EXPECT_LE(told, 2 + took / std::chrono::milliseconds(90));
}

TEST_F(Scores, NothingIsReportedOfProcessesInNoKnownPod) {
    make_pod();
    cgroups_.make("kubepods/podother/app");
    cgroups_.make("elsewhere");
    PodProcess unknown(cgroups_, "kubepods/podother/app");
    PodProcess outside(cgroups_, "elsewhere");
    PodProcess known(cgroups_, "kubepods/podone/app");
    for (const auto* process : {&unknown, &outside, &known}) write_score(process->pid(), 400);
    const auto event = wait_for<OomScoreChanged>([](const OomScoreChanged&) { return true; });
    ASSERT_TRUE(event);
    EXPECT_EQ(std::get<OomScoreChanged>(event->kind).pid, known.pid()) << "the first, though written last";
}

class RealScores : public testing::Test {
protected:
    port::PodCgroupPtr pod(const std::string& name) {
        auto opened = kernel::CgroupHandle::open(hierarchies(), cgroups_.path(name));
        return opened ? *opened : nullptr;
    }
    TestCgroups cgroups_;
    kernel::ProcScores scores_;
};

TEST_F(RealScores, EveryProcessOfThePodAndNoOtherIsHandedOverWithItsContainer) {
    for (const char* name : {"kubepods/podone/app", "kubepods/podone/helper", "kubepods/podtwo/app"})
        cgroups_.make(name);
    PodProcess app(cgroups_, "kubepods/podone/app", [](const Line&) {
        if (::fork() == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (true) ::pause();
    });
    PodProcess helper(cgroups_, "kubepods/podone/helper");
    PodProcess other(cgroups_, "kubepods/podtwo/app");
    const int before = score_of(other.pid());
    while (cgroups_.processes("kubepods/podone/app").size() < 2) ::usleep(1000);
    std::map<pid_t, std::string> seen;
    ASSERT_TRUE(scores_.each(*pod("kubepods/podone"), [&](port::ScoredProcess& process) {
        seen[process.pid()] = process.container();
        EXPECT_GT(process.started(), 0U);
        EXPECT_TRUE(process.set_score(777));
        EXPECT_EQ(process.score().value_or(0), 777);
    }));
    EXPECT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen.at(app.pid()), "app");
    EXPECT_EQ(seen.at(helper.pid()), "helper");
    EXPECT_EQ(score_of(helper.pid()), 777);
    EXPECT_EQ(score_of(other.pid()), before);
}

TEST_F(RealScores, AnExitedProcessIsGoneEvenIfItsPidIsReused) {
    cgroups_.make("kubepods/podone/app");
    PodProcess app(cgroups_, "kubepods/podone/app");
    int visits = 0;
    ASSERT_TRUE(scores_.each(*pod("kubepods/podone"), [&](port::ScoredProcess& process) {
        visits++;
        ::kill(process.pid(), SIGKILL);
        EXPECT_TRUE(app.killed_by(SIGKILL));  // and reaped: its pid is free
        const auto score = process.score();
        ASSERT_FALSE(score);
        EXPECT_EQ(score.error().kind, ErrorKind::vanished);
        EXPECT_EQ(process.set_score(500).error().kind, ErrorKind::vanished);
    }));
    EXPECT_EQ(visits, 1);
}

TEST_F(RealScores, OnceThePodIsRemovedNoProcessIsVisited) {
    cgroups_.make("kubepods/podone");
    const auto gone = pod("kubepods/podone");
    cgroups_.remove("kubepods/podone");
    const auto done = scores_.each(*gone, [](port::ScoredProcess&) { ADD_FAILURE(); });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::vanished);
}

}  // namespace
}  // namespace evictd::kernel_test

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kill path on real processes that do their best to stay alive, and on whom it must not touch.
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "act/executor.hpp"
#include "act/exit_priority.hpp"
#include "act/reaper.hpp"
#include "act/victim_freeze.hpp"
#include "fakes/temp_dir.hpp"
#include "kernel/cgroup_dirs.hpp"
#include "kernel/cgroup_fixture.hpp"
#include "kernel/pod_cgroup.hpp"
#include "kernel/pod_controls.hpp"
#include "kernel/pod_process.hpp"
#include "kernel/probes.hpp"
#include "kernel/process_lists.hpp"
#include "reconcile/held_rungs.hpp"
#include "sys/clock.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel_test {
namespace {

char state_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    const auto end = text.rfind(") ");
    return end == std::string::npos ? '?' : text[end + 2];
}

// False as well where the kernel cannot be asked.
bool is_populated(const port::PodCgroup& cgroup, bool wanted) {
    const auto any = cgroup.populated();
    return any && *any == wanted;
}

struct NothingAfter final : act::AfterKill {
    void follow(port::PodCgroupPtr /*victim*/, bool /*forks*/) override {}
    void finish_terminating(port::PodCgroupPtr /*pod*/) override {}
    void drop_cache(port::PodCgroupPtr /*victim*/) override {}
};

port::PodCgroupPtr open_cgroup(const TestCgroups& cgroups, const std::string& name) {
    auto handle = kernel::CgroupHandle::open(hierarchies(), cgroups.path(name));
    EXPECT_TRUE(handle) << name;
    return handle ? *handle : nullptr;
}

Outcome carry_out(act::AfterKill& after, ActionKind kind, const port::PodCgroupPtr& cgroup, bool dry_run) {
    const sys::SystemClock clock;
    act::Executor executor(clock, after, dry_run);
    const Action action{kind, PodUid{"uid"}, "default/pod"};
    const auto outcomes = executor.carry_out({&action, 1}, clock.monotonic(), [&](const Action&) { return cgroup; });
    EXPECT_EQ(outcomes.size(), 1U);
    return outcomes.front();
}

class Kill : public testing::Test {
protected:
    void SetUp() override {
        auto reaper = act::Reaper::make(clock_);
        ASSERT_TRUE(reaper);
        reaper_ = std::move(*reaper);
        cgroups_.make(bystander_name_);
        bystander_ = std::make_unique<PodProcess>(cgroups_, bystander_name_);
    }
    void TearDown() override { EXPECT_TRUE(bystander_->running()) << "another pod was hit"; }

    Outcome act_on(ActionKind kind, const port::PodCgroupPtr& cgroup, bool dry_run = false) {
        return carry_out(*reaper_, kind, cgroup, dry_run);
    }
    // Kills the pod in `name` and waits until nobody is left in it.
    Outcome kill(const std::string& name) {
        const auto cgroup = open_cgroup(cgroups_, name);
        const auto outcome = act_on(ActionKind::kill, cgroup);
        EXPECT_EQ(outcome.status, OutcomeStatus::delivered) << outcome.error;
        EXPECT_TRUE(eventually([&] {
            const auto left = cgroup->processes();
            return left && left->empty();
        })) << name;
        return outcome;
    }

    TestCgroups cgroups_;
    sys::SystemClock clock_;
    std::unique_ptr<act::Reaper> reaper_;
    const std::string bystander_name_ = "kubepods/podbystander/container";
    std::unique_ptr<PodProcess> bystander_;
};

TEST_F(Kill, EveryProcessOfEveryContainerDies) {
    cgroups_.make("kubepods/podvictim/one");
    cgroups_.make("kubepods/podvictim/two/inner");
    PodProcess first(cgroups_, "kubepods/podvictim/one");
    PodProcess second(cgroups_, "kubepods/podvictim/one");
    PodProcess third(cgroups_, "kubepods/podvictim/two/inner");
    const auto begin = clock_.monotonic();
    const auto outcome = kill("kubepods/podvictim");
    // On v2 few processes are signalled one by one, unless that takes longer than evictd's thread has for it.
    EXPECT_TRUE(outcome.method == "pidfd" || (hierarchies().v2 && outcome.method == "cgroup.kill")) << outcome.method;
    EXPECT_GE(outcome.delivered_at, begin);
    for (auto* process : {&first, &second, &third}) EXPECT_TRUE(process->killed_by(SIGKILL));
}

TEST_F(Kill, SigtermIsARequestAndSigkillIsNone) {
    cgroups_.make("kubepods/podpolite");
    cgroups_.make("kubepods/podstubborn");
    PodProcess polite(cgroups_, "kubepods/podpolite");
    PodProcess stubborn(cgroups_, "kubepods/podstubborn", [](const Line& line) {
        static const Line* told = nullptr;
        told = &line;
        std::signal(SIGTERM, [](int) { told->say('t'); });
        line.say('r');
        for (;;) ::pause();
    });
    ASSERT_TRUE(stubborn.hear());
    for (const char* name : {"kubepods/podpolite", "kubepods/podstubborn"}) {
        const auto outcome = act_on(ActionKind::terminate, open_cgroup(cgroups_, name));
        EXPECT_EQ(outcome.status, OutcomeStatus::delivered) << outcome.error;
        EXPECT_EQ(outcome.processes, 1);
        EXPECT_EQ(outcome.method, "pidfd");
    }
    EXPECT_TRUE(polite.killed_by(SIGTERM));
    EXPECT_EQ(stubborn.hear(), 't');
    EXPECT_TRUE(stubborn.running());
    kill("kubepods/podstubborn");
    EXPECT_TRUE(stubborn.killed_by(SIGKILL));
}

TEST_F(Kill, AStoppedProcessDies) {
    cgroups_.make("kubepods/podstopped");
    PodProcess pod(cgroups_, "kubepods/podstopped");
    ASSERT_EQ(::kill(pod.pid(), SIGSTOP), 0);
    kill("kubepods/podstopped");
    EXPECT_TRUE(pod.killed_by(SIGKILL));
}

TEST_F(Kill, AFrozenPodDies) {
    cgroups_.make("kubepods/podfrozen/container");
    PodProcess pod(cgroups_, "kubepods/podfrozen/container");
    cgroups_.freeze("kubepods/podfrozen");
    kill("kubepods/podfrozen");
    EXPECT_TRUE(pod.killed_by(SIGKILL));
}

TEST_F(Kill, AFrozenContainerInAPodThatIsNotDies) {
    cgroups_.make("kubepods/podhalf/container");
    PodProcess pod(cgroups_, "kubepods/podhalf/container");
    cgroups_.freeze("kubepods/podhalf/container");
    kill("kubepods/podhalf");
    EXPECT_TRUE(pod.killed_by(SIGKILL));
}

TEST_F(Kill, AForkBombDies) {
    cgroups_.make("kubepods/podbomb/container");
    cgroups_.limit_processes("kubepods/podbomb", 40);
    PodProcess pod(cgroups_, "kubepods/podbomb/container", [](const Line& line) {
        line.say('r');
        std::signal(SIGCHLD, SIG_IGN);
        for (;;) {
            if (::fork() == 0) continue;
            if (::fork() == 0) ::_exit(0);  // pids come and go all the time
        }
    });
    ASSERT_TRUE(pod.hear());
    ASSERT_TRUE(eventually([&] { return cgroups_.processes("kubepods/podbomb/container").size() > 20; }));
    kill("kubepods/podbomb");
    EXPECT_TRUE(pod.killed_by(SIGKILL));
}

TEST_F(Kill, AProcessOfManyThreadsDiesOnceAndItsMemoryComesBack) {
    cgroups_.make("kubepods/podthreads");
    PodProcess pod(cgroups_, "kubepods/podthreads", [](const Line& line) {
        for (int i = 0; i < 8; i++) std::thread([] { ::pause(); }).detach();
        touch(64_MiB);
        line.say('r');
        line.hear();
    });
    ASSERT_TRUE(pod.hear());
    EXPECT_GT(cgroups_.usage("kubepods/podthreads"), (60_MiB).value);
    kill("kubepods/podthreads");
    EXPECT_TRUE(pod.killed_by(SIGKILL));
    EXPECT_TRUE(eventually([&] { return cgroups_.usage("kubepods/podthreads") < (8_MiB).value; }));
}

TEST_F(Kill, OnlyWhatIsDyingIsReleased) {
    cgroups_.make("kubepods/podheld");
    PodProcess pod(cgroups_, "kubepods/podheld", [](const Line& line) {
        touch(8_MiB);
        line.say('r');
        line.hear();
    });
    ASSERT_TRUE(pod.hear());
    const auto held = act::hold(pod.pid());
    ASSERT_TRUE(held.pidfd);
    EXPECT_FALSE(act::release_memory(held));
    ASSERT_EQ(::kill(pod.pid(), SIGKILL), 0);
    EXPECT_TRUE(act::release_memory(held));
}

// Where a pod's cgroup has no real-time budget (v1 with CONFIG_RT_GROUP_SCHED) too.
TEST_F(Kill, AProcessMayExitFirstAndIsPutBack) {
    cgroups_.make("kubepods/podslow");
    const PodProcess pod(cgroups_, "kubepods/podslow");
    const auto held = act::hold(pod.pid());
    const auto policy = [&] { return ::sched_getscheduler(pod.pid()) & ~SCHED_RESET_ON_FORK; };
    act::set_exit_priority(held, act::ExitPriority::first);
    EXPECT_THAT(policy(), testing::AnyOf(SCHED_FIFO, 6 /* SCHED_DEADLINE */));
    act::set_exit_priority(held, act::ExitPriority::normal);
    EXPECT_EQ(policy(), SCHED_OTHER);
}

// The process goes on in another thread; its main thread is a zombie, which cgroup.kill does not reach.
void exit_main_thread(const Line& line) {
    std::thread([line] {
        line.say('r');
        for (;;) ::pause();
    }).detach();
    ::syscall(SYS_exit, 0);
}

TEST_F(Kill, AProcessWhoseMainThreadExitedIsThereAndDies) {
    cgroups_.make("kubepods/podthreadless/container");
    PodProcess pod(cgroups_, "kubepods/podthreadless/container", exit_main_thread);
    ASSERT_TRUE(pod.hear());
    ASSERT_TRUE(eventually([&] { return state_of(pod.pid()) == 'Z'; }));
    const auto cgroup = open_cgroup(cgroups_, "kubepods/podthreadless");
    EXPECT_TRUE(is_populated(*cgroup, true));
    EXPECT_FALSE(cgroup->surely_empty());
    const auto outcome = act_on(ActionKind::kill, cgroup);
    EXPECT_EQ(outcome.status, OutcomeStatus::delivered) << outcome.error;
    if (cgroup->can_kill()) {
        EXPECT_LE(outcome.processes, 1) << "it is listed after cgroup.kill, which has ended it on some kernels";
    } else {
        EXPECT_EQ(outcome.processes, 1);
    }
    EXPECT_TRUE(pod.killed_by(SIGKILL));
    EXPECT_TRUE(eventually([&] { return is_populated(*cgroup, false); }));
}

// Where the threads are, cgroup.procs of v2 names no process then: the main thread stayed behind where it exited.
TEST_F(Kill, AProcessWhoseMainThreadExitedInAnotherCgroupDies) {
    cgroups_.make("kubepods/podleft/before");
    cgroups_.make("kubepods/podleft/after");
    PodProcess pod(cgroups_, "kubepods/podleft/before", exit_main_thread);
    ASSERT_TRUE(pod.hear());
    ASSERT_TRUE(eventually([&] { return state_of(pod.pid()) == 'Z'; }));
    cgroups_.enter("kubepods/podleft/after", pod.pid());
    cgroups_.remove("kubepods/podleft/before");
    (void)act_on(ActionKind::kill, open_cgroup(cgroups_, "kubepods/podleft"));
    EXPECT_TRUE(pod.killed_by(SIGKILL));
}

TEST_F(Kill, DotNamesAndDepthHideNoProcess) {
    std::string deep = "kubepods/poddeep";
    for (int level = 0; level < 40; level++) deep += level % 2 == 0 ? "/.hidden" : "/..x";
    cgroups_.make("kubepods/poddeep/.name");
    cgroups_.make(deep);
    PodProcess hidden(cgroups_, "kubepods/poddeep/.name");
    PodProcess below(cgroups_, deep);
    kill("kubepods/poddeep");
    EXPECT_TRUE(hidden.killed_by(SIGKILL));
    EXPECT_TRUE(below.killed_by(SIGKILL));
}

TEST_F(Kill, SigtermReachesDotNamesAndDepthToo) {
    std::string deep = "kubepods/poddeep";
    for (int level = 0; level < 20; level++) deep += "/.d";
    cgroups_.make(deep);
    PodProcess below(cgroups_, deep);
    (void)act_on(ActionKind::terminate, open_cgroup(cgroups_, "kubepods/poddeep"));
    EXPECT_TRUE(below.killed_by(SIGTERM));
}

// From one of its cgroups to another, in every hierarchy, as fast as it can: a listing of all of them misses it often.
void move_all_the_time(const TestCgroups& cgroups, const std::string& pod, int count, const Line& line) {
    std::vector<int> lists;
    for (int i = 0; i < count; i++) {
        for (const auto& mount : {hierarchies().memory, hierarchies().freezer}) {
            const auto path = mount + cgroups.path(pod) + "/" + std::to_string(i) + "/cgroup.procs";
            if (!mount.empty()) lists.push_back(::open(path.c_str(), O_WRONLY));
        }
    }
    line.say('r');
    for (std::size_t at = 0;; at = (at * 5 + 1) % lists.size()) (void)!::write(lists[at], "0", 1);
}

TEST_F(Kill, AProcessThatMovesAllTheTimeDies) {
    constexpr int count = 32;
    for (int round = 0; round < 8; round++) {
        const auto pod = "kubepods/podhop" + std::to_string(round);
        for (int i = 0; i < count; i++) cgroups_.make(pod + "/" + std::to_string(i));
        PodProcess hopper(cgroups_, pod + "/0",
                          [&](const Line& line) { move_all_the_time(cgroups_, pod, count, line); });
        ASSERT_TRUE(hopper.hear());
        kill(pod);
        EXPECT_TRUE(hopper.killed_by(SIGKILL)) << "round " << round;
    }
}

namespace {
// Lowers the limit so that so many descriptors can be opened.
class FewDescriptors {
public:
    explicit FewDescriptors(rlim_t count) {
        (void)getrlimit(RLIMIT_NOFILE, &before_);
        rlimit few = before_;
        const sys::Fd lowest_free(::dup(0));
        few.rlim_cur = static_cast<rlim_t>(lowest_free.get()) + count;
        (void)setrlimit(RLIMIT_NOFILE, &few);
    }
    ~FewDescriptors() { (void)setrlimit(RLIMIT_NOFILE, &before_); }
    FewDescriptors(const FewDescriptors&) = delete;
    FewDescriptors& operator=(const FewDescriptors&) = delete;
    FewDescriptors(FewDescriptors&&) = delete;
    FewDescriptors& operator=(FewDescriptors&&) = delete;

private:
    rlimit before_{};
};
}  // namespace

TEST_F(Kill, MoreProcessesThanDescriptorsDie) {
    cgroups_.make("kubepods/podmany/container");
    PodProcess pod(cgroups_, "kubepods/podmany/container", [](const Line& line) {
        for (int i = 0; i < 120; i++) {
            if (::fork() == 0) {
                for (;;) ::pause();
            }
        }
        line.say('r');
        line.hear();
    });
    ASSERT_TRUE(pod.hear());
    ASSERT_EQ(cgroups_.processes("kubepods/podmany/container").size(), 121U);
    const auto cgroup = open_cgroup(cgroups_, "kubepods/podmany");
    Outcome outcome;
    {
        const FewDescriptors few(31);
        outcome = act_on(ActionKind::kill, cgroup);
    }
    EXPECT_EQ(outcome.status, OutcomeStatus::delivered) << outcome.error;
    if (!cgroup->can_kill()) {  // else they may have ended before they are listed
        EXPECT_GT(outcome.processes, 0) << "the reaper reaches the rest if it takes too long";
    }
    EXPECT_TRUE(pod.killed_by(SIGKILL));
    EXPECT_TRUE(eventually([&] { return is_populated(*cgroup, false); }));
}

// The pidfds may take the last descriptor before the listing, or before the walk's next directory.
TEST_F(Kill, ASignalReachesAllProcessesWithAnyNumberOfDescriptors) {
    cgroups_.make("kubepods/podstays/container");
    cgroups_.make("kubepods/podstays/sidecar");
    PodProcess pod(cgroups_, "kubepods/podstays/container", [](const Line& line) {
        (void)::signal(SIGTERM, SIG_IGN);
        for (int i = 0; i < 48; i++) {
            if (::fork() == 0) {
                for (;;) ::pause();
            }
        }
        line.say('r');
        line.hear();
    });
    ASSERT_TRUE(pod.hear());
    const auto cgroup = open_cgroup(cgroups_, "kubepods/podstays");
    for (rlim_t count = 20; count <= 60; count++) {
        Outcome outcome;
        {
            const FewDescriptors few(count);
            outcome = act_on(ActionKind::terminate, cgroup);
        }
        EXPECT_EQ(outcome.status, OutcomeStatus::delivered) << count << " descriptors: " << outcome.error;
    }
    kill("kubepods/podstays");
}

TEST_F(Kill, WhatAPodHoldsIsReportedByKind) {
    cgroups_.make("kubepods/podholds/container");
    PodProcess pod(cgroups_, "kubepods/podholds/container", [](const Line& line) {
        touch(24_MiB);
        const int shared = ::memfd_create("shared", 0);
        const std::vector<char> block(std::size_t{1} << 20U, 'x');
        for (int i = 0; i < 16; i++) (void)!::write(shared, block.data(), block.size());
        line.say('r');
        line.hear();
    });
    ASSERT_TRUE(pod.hear());
    const auto cgroup = open_cgroup(cgroups_, "kubepods/podholds");
    // memory.stat may lag: the kernel adds up what the CPUs have counted every 2 s at the latest.
    auto held = cgroup->held_memory();
    ASSERT_TRUE(eventually([&] {
        held = cgroup->held_memory();
        return !held || (held->anon >= 23_MiB && held->shmem >= 15_MiB);
    }));
    ASSERT_TRUE(held) << held.error().text();
    EXPECT_GE(held->total, 40_MiB);
    EXPECT_GE(held->anon, 23_MiB);
    EXPECT_LT(held->anon, 36_MiB);
    EXPECT_GE(held->shmem, 15_MiB);
    EXPECT_LT(held->shmem, 18_MiB);
    EXPECT_LT(held->file, 8_MiB);
    EXPECT_GT(held->kernel, Bytes{0});
    kill("kubepods/podholds");
    EXPECT_TRUE(eventually([&] { return cgroup->held_memory().value_or(HeldMemory{}).total < 8_MiB; }));
}

// As it is left by an evictd that is killed while the reaper has frozen a victim.
TEST_F(Kill, AVictimThatWasLeftFrozenIsThawedByTheLedger) {
    if (hierarchies().freezer.empty()) GTEST_SKIP() << "v1 only";
    const fakes::TempDir directory;
    const auto path = (directory.path() / "rungs").string();
    cgroups_.make("kubepods/podstuck/container");
    const auto cgroup = open_cgroup(cgroups_, "kubepods/podstuck");
    const auto frozen = [&] {
        std::ifstream file(hierarchies().freezer + cgroup->path() + "/freezer.state");
        std::string word;
        return file >> word && word != "THAWED";
    };
    const pid_t agent = ::fork();
    if (agent == 0) {
        const act::VictimFreeze freeze(*cgroup, path);
        ::raise(SIGKILL);
    }
    ASSERT_EQ(::waitpid(agent, nullptr, 0), agent);
    EXPECT_TRUE(frozen());
    const kernel::PodControls controls(hierarchies());
    (void)reconcile::put_back_all(controls, reconcile::victims_path(path));
    EXPECT_FALSE(frozen());
    EXPECT_FALSE(std::filesystem::exists(reconcile::victims_path(path)));
}

// The v2 hierarchy, which has cgroup.kill also where it has no controllers.
class KillByCgroup : public Kill {
protected:
    void SetUp() override {
        if (hierarchies().v2_mount().empty()) GTEST_SKIP() << "needs a v2 hierarchy";
        Kill::SetUp();
        v2_ = {.v2 = true, .memory = hierarchies().v2_mount()};
        for (const char* name : {"", "/before", "/after"}) ASSERT_EQ(::mkdir(directory(name).c_str(), 0755), 0);
    }
    void TearDown() override {
        if (v2_.memory.empty()) return;
        reaper_.reset();
        for (const char* name : {"/before", "/after", ""}) {
            (void)eventually([&] { return ::rmdir(directory(name).c_str()) == 0 || errno == ENOENT; });
        }
        Kill::TearDown();
    }
    [[nodiscard]] std::string directory(const std::string& name) const { return v2_.memory + path_ + name; }
    void enter(const std::string& name, const PodProcess& process) const {
        std::ofstream(directory(name) + "/cgroup.procs") << process.pid();
    }
    [[nodiscard]] port::PodCgroupPtr open_pod() const { return *kernel::CgroupHandle::open(v2_, path_); }

    kernel::Hierarchies v2_;
    std::string path_ = "/evictd-test-" + std::to_string(::getpid()) + "-v2";
};

TEST_F(KillByCgroup, AProcessWhoseMainThreadExitedDies) {
    cgroups_.make("kubepods/podv2");
    PodProcess pod(cgroups_, "kubepods/podv2", [](const Line& line) {
        line.hear();
        exit_main_thread(line);
    });
    enter("/before", pod);
    pod.say('g');
    ASSERT_TRUE(pod.hear());
    ASSERT_TRUE(eventually([&] { return state_of(pod.pid()) == 'Z'; }));
    const auto cgroup = open_pod();
    EXPECT_TRUE(is_populated(*cgroup, true));
    (void)act_on(ActionKind::kill, cgroup);
    EXPECT_TRUE(pod.killed_by(SIGKILL));
    EXPECT_TRUE(eventually([&] { return cgroup->surely_empty(); }));
}

// Its main thread stays listed where it exited; when that cgroup is removed no cgroup.procs names the process.
TEST_F(KillByCgroup, AProcessThatNoListNamesDies) {
    cgroups_.make("kubepods/podv2");
    PodProcess pod(cgroups_, "kubepods/podv2", [](const Line& line) {
        line.hear();
        exit_main_thread(line);
    });
    enter("/before", pod);
    pod.say('g');
    ASSERT_TRUE(pod.hear());
    ASSERT_TRUE(eventually([&] { return state_of(pod.pid()) == 'Z'; }));
    enter("/after", pod);
    // Linux 7.2 was seen to answer EBUSY for a moment.
    ASSERT_TRUE(eventually([&] { return ::rmdir(directory("/before").c_str()) == 0; }));
    const auto cgroup = open_pod();
    EXPECT_TRUE(cgroup->processes().value_or(std::vector<pid_t>{1}).empty());
    EXPECT_TRUE(is_populated(*cgroup, true));
    (void)act_on(ActionKind::kill, cgroup);
    EXPECT_TRUE(pod.killed_by(SIGKILL));
    EXPECT_TRUE(eventually([&] { return cgroup->surely_empty(); }));
}

TEST_F(Kill, AnEmptyPodIsDeliveredToNoProcess) {
    cgroups_.make("kubepods/podempty");
    EXPECT_EQ(kill("kubepods/podempty").processes, 0);
}

TEST_F(Kill, ACgroupMadeAnewUnderTheSameNameIsNotTouched) {
    cgroups_.make("kubepods/podreborn");
    const auto held = open_cgroup(cgroups_, "kubepods/podreborn");
    const auto reborn = [&] {
        for (const auto& mount : {hierarchies().memory, hierarchies().freezer}) {
            if (mount.empty()) continue;
            const auto directory = mount + cgroups_.path("kubepods/podreborn");
            EXPECT_EQ(::rmdir(directory.c_str()), 0);
            EXPECT_EQ(::mkdir(directory.c_str(), 0755), 0);
        }
    };
    reborn();
    EXPECT_NE(cgroups_.id("kubepods/podreborn"), held->id());
    PodProcess innocent(cgroups_, "kubepods/podreborn");
    for (const auto kind : {ActionKind::terminate, ActionKind::kill}) {
        const auto outcome = act_on(kind, held);
        EXPECT_EQ(outcome.status, OutcomeStatus::vanished) << outcome.error;
        EXPECT_FALSE(outcome.error.empty());
        EXPECT_TRUE(innocent.running());
    }
    EXPECT_EQ(held->processes().error().kind, ErrorKind::vanished);
}

// Also where nothing but its pids cgroup was made anew, or that came after the handle.
TEST_F(Kill, TasksOfACgroupMadeAnewUnderTheSameNameAreNotCounted) {
    if (hierarchies().pids.empty()) GTEST_SKIP() << "pids is not a hierarchy of its own";
    const auto has_vanished = [](const port::PodCgroupPtr& cgroup) {
        const auto tasks = cgroup->tasks();
        return !tasks && tasks.error().kind == ErrorKind::vanished;
    };
    cgroups_.make("kubepods/podreborn");
    const auto pids = hierarchies().pids + cgroups_.path("kubepods/podreborn");
    const auto held = open_cgroup(cgroups_, "kubepods/podreborn");
    ASSERT_EQ(::rmdir(pids.c_str()), 0);
    const auto early = open_cgroup(cgroups_, "kubepods/podreborn");
    EXPECT_TRUE(has_vanished(held));
    ASSERT_EQ(::mkdir(pids.c_str(), 0755), 0);
    PodProcess innocent(cgroups_, "kubepods/podreborn");
    EXPECT_TRUE(has_vanished(held));
    EXPECT_FALSE(held->surely_empty());
    EXPECT_EQ(open_cgroup(cgroups_, "kubepods/podreborn")->tasks().value_or(-1), 1);
    EXPECT_EQ(early->tasks().value_or(-1), 1);
    const auto memory = hierarchies().memory + cgroups_.path("kubepods/podreborn");
    ASSERT_EQ(::kill(innocent.pid(), SIGKILL), 0);
    ASSERT_TRUE(innocent.killed_by(SIGKILL));
    ASSERT_TRUE(eventually([&] { return ::rmdir(memory.c_str()) == 0; }));
    EXPECT_TRUE(has_vanished(early));
    ASSERT_EQ(::mkdir(memory.c_str(), 0755), 0);
}

TEST_F(Kill, APodWithoutACgroupHasVanished) {
    EXPECT_EQ(act_on(ActionKind::kill, nullptr).status, OutcomeStatus::vanished);
}

TEST_F(Kill, DryRunReportsWhatWouldDieAndTouchesNothing) {
    cgroups_.make("kubepods/podspared/container");
    PodProcess first(cgroups_, "kubepods/podspared/container");
    PodProcess second(cgroups_, "kubepods/podspared/container");
    const auto outcome = act_on(ActionKind::kill, open_cgroup(cgroups_, "kubepods/podspared"), true);
    EXPECT_EQ(outcome.status, OutcomeStatus::dry_run);
    EXPECT_EQ(outcome.processes, 2);
    EXPECT_TRUE(first.running());
    EXPECT_TRUE(second.running());
}

TEST_F(Kill, TheAgentNeverEndsThePodItRunsIn) {
    cgroups_.make("kubepods/podself/container");
    PodProcess agent(cgroups_, "kubepods/podself/container", [&](const Line& line) {
        NothingAfter after;
        for (const auto kind : {ActionKind::kill, ActionKind::terminate}) {
            const auto outcome = carry_out(after, kind, open_cgroup(cgroups_, "kubepods/podself"), false);
            line.say(outcome.status == OutcomeStatus::refused ? 'r' : 'x');
        }
        line.hear();
    });
    EXPECT_EQ(agent.hear(), 'r');
    EXPECT_EQ(agent.hear(), 'r');
    EXPECT_TRUE(agent.running());
}

// As in a container: our path in /proc/self/cgroup is not the one below the mount point.
TEST_F(Kill, TheAgentKnowsItsPodInACgroupNamespaceOfItsOwn) {
    cgroups_.make("kubepods/podself/container");
    PodProcess agent(cgroups_, "kubepods/podself/container", [&](const Line& line) {
        const auto ours = open_cgroup(cgroups_, "kubepods/podself");
        const auto theirs = open_cgroup(cgroups_, bystander_name_);
        if (::unshare(CLONE_NEWCGROUP) != 0) line.say('?');
        for (const auto& cgroup : {ours, theirs}) {
            const auto holds = cgroup->holds_us();
            line.say(holds ? *holds ? 'y' : 'n' : '?');
        }
        const auto told = kernel::own_cgroup_of_host(hierarchies().v2);
        line.say(!told || told == cgroups_.path("kubepods/podself/container") ? 'y' : 'n');  // or it may not be asked
        line.hear();
    });
    EXPECT_EQ(agent.hear(), 'y');
    EXPECT_EQ(agent.hear(), 'n');
    EXPECT_EQ(agent.hear(), 'y');
}

// Read twice, it is in use for the kernel, which keeps it until memory is short.
TEST_F(Kill, ThePageCacheOfAPodWithoutProcessesIsGivenBack) {
    if (hierarchies().v2 && kernel::probe_cgroup_file(hierarchies(), "memory.reclaim") != 0) {
        GTEST_SKIP() << "this kernel has no memory.reclaim";
    }
    cgroups_.make("kubepods/podreader/container");
    const ColdFile file(48_MiB);
    PodProcess pod(cgroups_, "kubepods/podreader/container", [&](const Line& line) {
        read_once(file.path(), 48_MiB);
        read_once(file.path(), 48_MiB);
        line.say('r');
        line.hear();
    });
    ASSERT_EQ(pod.hear(), 'r');
    const auto cgroup = open_cgroup(cgroups_, "kubepods/podreader");
    kill("kubepods/podreader");
    ASSERT_TRUE(eventually([&] { return is_populated(*cgroup, false); }));
    const auto held = cgroup->held_memory();
    ASSERT_TRUE(held) << held.error().text();
    const auto left = held->file;
    ASSERT_GE(left, 40_MiB) << "of " << held->total.value << " bytes";
    const auto dropped = cgroup->drop_cache();
    ASSERT_TRUE(dropped) << dropped.error().text();
    EXPECT_TRUE(*dropped) << "nothing in it is dirty";
    EXPECT_LT(cgroup->held_memory().value_or(HeldMemory{.total = left, .file = left}).file, 8_MiB);
}

}  // namespace
}  // namespace evictd::kernel_test

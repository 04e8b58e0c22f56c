// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Kills by the kernel's OOM killer: who is told, in which container, as what, and whether the kernel's log says the
// same.
#include <csignal>
#include <regex>
#include <set>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "kernel/bpf_fixture.hpp"

namespace evictd::kernel_test {
namespace {

class Oom : public WithBpf {
protected:
    // A pod at 24 MiB with one container, which the kernel programs know.
    void make_pod() {
        make_pods_root(std::nullopt);
        cgroups_.make("kubepods/podfull/cri-0123.scope");
        cgroups_.limit_memory("kubepods/podfull", 24_MiB);
        if (hierarchies().v2) cgroups_.write("kubepods/podfull", "memory.swap.max", "0");
        ASSERT_TRUE(bpf_->show_pods({{cgroups_.id("kubepods/podfull"), evictd_pod{}}}));
    }
    std::optional<OomKill> told(const std::string& comm) {
        const auto event = wait_for<OomKill>([&](const OomKill& kill) { return kill.comm == comm; });
        return event ? std::optional(std::get<OomKill>(event->kind)) : std::nullopt;
    }
    static constexpr const char* container = "kubepods/podfull/cri-0123.scope";
};

// Takes more than the pod may, under a name of its own, when the test says so.
PodProcess::Body hog(const char* name) {
    return [name](const Line& line) {
        ::prctl(PR_SET_NAME, name);
        line.hear();
        touch(96_MiB);
    };
}

// The same in a child, which the first process outlives.
PodProcess::Body parent_of_hog(const char* name) {
    return [name](const Line& line) {
        line.hear();
        if (::fork() == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            ::prctl(PR_SET_NAME, name);
            touch(96_MiB);
        }
        while (true) ::pause();
    };
}

TEST_F(Oom, TheContainersFirstProcessIsReportedWithItsContainerAndPod) {
    make_pod();
    PodProcess pod(cgroups_, container, hog("evictd-first"));
    pod.say('g');
    const auto kill = told("evictd-first");
    ASSERT_TRUE(kill);
    EXPECT_EQ(kill->pid, pod.pid());
    EXPECT_EQ(kill->role, OomRole::first_process);
    EXPECT_EQ(kill->container_cgroup, "cri-0123.scope");
    EXPECT_EQ(kill->pod_cgroup, cgroups_.id("kubepods/podfull"));
    EXPECT_TRUE(kill->memcg);
    EXPECT_FALSE(kill->group);
    EXPECT_TRUE(pod.killed_by(SIGKILL));
}

TEST_F(Oom, AChildIsDistinguishedAndItsContainerKeepsRunning) {
    make_pod();
    PodProcess pod(cgroups_, container, parent_of_hog("evictd-child"));
    pod.say('g');
    const auto kill = told("evictd-child");
    ASSERT_TRUE(kill);
    EXPECT_NE(kill->pid, pod.pid());
    EXPECT_EQ(kill->role, OomRole::child);
    EXPECT_EQ(kill->container_cgroup, "cri-0123.scope");
    EXPECT_EQ(kill->limiting_cgroup, cgroups_.id("kubepods/podfull"));
    EXPECT_TRUE(pod.running());
}

TEST_F(Oom, AProcessThatCameLaterIsNoFirstOne) {
    make_pod();
    PodProcess first(cgroups_, container);
    PodProcess later(cgroups_, container, hog("evictd-later"));
    later.say('g');
    const auto kill = told("evictd-later");
    ASSERT_TRUE(kill);
    EXPECT_EQ(kill->role, OomRole::child);
    EXPECT_TRUE(first.running());
}

TEST_F(Oom, DeeperInTheContainerItIsStillTheContainersName) {
    make_pod();
    cgroups_.make("kubepods/podfull/cri-9999.scope/service");
    PodProcess pod(cgroups_, "kubepods/podfull/cri-9999.scope/service", hog("evictd-deep"));
    pod.say('g');
    const auto kill = told("evictd-deep");
    ASSERT_TRUE(kill);
    EXPECT_EQ(kill->container_cgroup, "cri-9999.scope");
    EXPECT_EQ(kill->cgroup, cgroups_.id("kubepods/podfull/cri-9999.scope/service"));
}

TEST_F(Oom, InAnUnknownPodTheVictimsOwnCgroupIsNamed) {
    make_pod();
    ASSERT_TRUE(bpf_->show_pods({}));
    PodProcess pod(cgroups_, container, hog("evictd-stray"));
    pod.say('g');
    const auto kill = told("evictd-stray");
    ASSERT_TRUE(kill);
    EXPECT_EQ(kill->pod_cgroup, CgroupId{});
    EXPECT_EQ(kill->container_cgroup, "cri-0123.scope");
}

TEST_F(Oom, EveryMemberOfAGroupIsReported) {
    if (!hierarchies().v2) GTEST_SKIP() << "cgroup v1 has no memory.oom.group";
    make_pod();
    ASSERT_TRUE(cgroups_.write(container, "memory.oom.group", "1"));
    PodProcess first(cgroups_, container);
    PodProcess other(cgroups_, container, hog("evictd-member"));
    other.say('g');
    std::set<std::int32_t> pids;
    while (pids.size() < 2) {
        const auto event =
            wait_for<OomKill>([&](const OomKill& kill) { return kill.cgroup == cgroups_.id(container); });
        ASSERT_TRUE(event) << "only " << pids.size() << " were told";
        const auto& kill = std::get<OomKill>(event->kind);
        EXPECT_TRUE(kill.group);
        EXPECT_EQ(kill.limiting_cgroup, cgroups_.id("kubepods/podfull"));
        EXPECT_EQ(kill.role, kill.pid == first.pid() ? OomRole::first_process : OomRole::child);
        EXPECT_TRUE(pids.insert(kill.pid).second) << "told twice";
    }
    EXPECT_EQ(pids, (std::set<std::int32_t>{first.pid(), other.pid()}));
    EXPECT_TRUE(first.killed_by(SIGKILL));
}

// What is written to the kernel's log from now on.
class KernelLog {
public:
    KernelLog() : log_(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)) { ::lseek(log_.get(), 0, SEEK_END); }
    std::string lines() {
        std::string text;
        std::array<char, 8192> record{};
        ssize_t got = 0;
        while ((got = ::read(log_.get(), record.data(), record.size())) > 0) {
            text.append(record.data(), static_cast<std::size_t>(got));
        }
        return text;
    }

private:
    sys::Fd log_;
};

TEST_F(Oom, TheKernelsLogAgrees) {
    make_pod();
    KernelLog log;
    PodProcess pod(cgroups_, container, parent_of_hog("evictd-truth"));
    pod.say('g');
    const auto kill = told("evictd-truth");
    ASSERT_TRUE(kill);
    std::string text;
    std::smatch found;
    const std::regex place(
        "oom-kill:constraint=([A-Z_]+),.*oom_memcg=([^,]*),task_memcg=([^,]*),task=([^,]*),pid=(\\d+),");
    const std::regex verdict("Killed process (\\d+) \\(([^)]*)\\).*oom_score_adj:(-?\\d+)");
    for (int tries = 0; tries < 500 && !std::regex_search(text, verdict); tries++) {
        text += log.lines();
        ::usleep(1000);
    }
    if (text.empty()) GTEST_SKIP() << "the kernel's log tells nothing of it here";
    ASSERT_TRUE(std::regex_search(text, found, place)) << text;
    EXPECT_EQ(found[1] == "CONSTRAINT_MEMCG", kill->memcg);
    EXPECT_EQ(found[2], cgroups_.path("kubepods/podfull"));
    EXPECT_EQ(kill->limiting_cgroup, cgroups_.id("kubepods/podfull"));
    EXPECT_EQ(found[3], cgroups_.path(container));
    EXPECT_EQ(kill->cgroup, cgroups_.id(container));
    EXPECT_EQ(found[4], kill->comm);
    EXPECT_EQ(found[5], std::to_string(kill->pid));
    ASSERT_TRUE(std::regex_search(text, found, verdict)) << text;
    EXPECT_EQ(found[1], std::to_string(kill->pid));
    EXPECT_EQ(found[2], kill->comm);
    EXPECT_EQ(found[3], std::to_string(kill->oom_score_adj));
}

}  // namespace
}  // namespace evictd::kernel_test

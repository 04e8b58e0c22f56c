// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whose sockets the kernel counts, and what it is to be kept from new ones.
#include <csignal>
#include <string>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel/sockets_fixture.hpp"

namespace evictd::kernel_test {
namespace {

TEST_F(Sockets, AreCountedForThePodThatMakesThem) {
    const PodProcess a(cgroups_, in_a, open_as_told);
    const PodProcess g(cgroups_, in_g, open_as_told);
    for (const char kind : std::string("tu6")) ASSERT_EQ(ask(a, kind), 'y');
    ASSERT_EQ(ask(g, 't'), 'y');
    EXPECT_EQ(open(pod_a), 3);
    EXPECT_EQ(open(pod_g), 1) << "a pod without a class cgroup";
    EXPECT_FALSE(known(in_g)) << "a container is no pod";
    EXPECT_FALSE(known("kubepods/burstable")) << "a class is no pod";
    EXPECT_EQ(open(pod_b), 0);
    ASSERT_EQ(ask(a, 'l'), 'y');
    EXPECT_EQ(open(pod_a), 3) << "what leaves the machine, not what stays in it";
    ASSERT_EQ(ask(a, 'c'), 'y');
    EXPECT_EQ(open(pod_a), 0);
    EXPECT_EQ(open(pod_g), 1);
}

// A descriptor more is no socket more, and neither is a process that inherited it, nor another pass.
TEST_F(Sockets, AreCountedOnceHoweverManyHoldThem) {
    PodProcess a(cgroups_, in_a, [](const Line& line) {
        const auto socket = make_socket(AF_INET, SOCK_STREAM);
        const sys::Fd again(::dup(socket.get()));
        const pid_t child = ::fork();
        if (child == 0) {
            ::pause();
        }
        line.say(socket && again && child > 0 ? 'y' : 'n');
        line.hear();
        ::kill(child, SIGKILL);
    });
    ASSERT_EQ(a.hear(), 'y');
    EXPECT_EQ(open(pod_a), 1);
    EXPECT_EQ(open(pod_a), 1);
    a.say('g');
}

TEST_F(Sockets, OutsideThePodsRootBelongToNoPod) {
    cgroups_.make("elsewhere/pod11111111-x");
    const PodProcess stranger(cgroups_, "elsewhere/pod11111111-x", open_as_told);
    ASSERT_EQ(ask(stranger, 't'), 'y');
    EXPECT_FALSE(known("elsewhere/pod11111111-x"));
}

// As before an agent: no pods' root is known.
TEST_F(Sockets, ThoseOpenBeforeTheAgentCameAreCounted) {
    ASSERT_TRUE(events_->follow(std::nullopt));
    PodProcess a(cgroups_, in_a, open_as_told);
    ASSERT_EQ(ask(a, 't'), 'y');
    ASSERT_EQ(ask(a, 'u'), 'y');
    EXPECT_EQ(open(pod_a), 0);
    ASSERT_TRUE(events_->follow(cgroups_.pods_root("kubepods")));
    EXPECT_EQ(open(pod_a), 2);
}

TEST_F(Sockets, APodThatIsGoneIsForgotten) {
    {
        const PodProcess b(cgroups_, in_b, open_as_told);
        ASSERT_EQ(ask(b, 't'), 'y');
        EXPECT_EQ(open(pod_b), 1);
    }
    const auto id = cgroups_.id(pod_b);
    remove_pod(pod_b, in_b);
    expect_nothing_of(id);
}

TEST_F(Sockets, AShedPodGetsNoNewOnesAndAllOthersDo) {
    const PodProcess a(cgroups_, in_a, open_as_told);
    const PodProcess b(cgroups_, in_b, open_as_told);
    const PodProcess stranger(cgroups_, outside, open_as_told);
    ASSERT_EQ(ask(a, 't'), 'y');
    ASSERT_TRUE(refuse(pod_a));
    for (const char kind : std::string("tu6")) EXPECT_EQ(ask(a, kind), 'p') << kind;
    EXPECT_EQ(ask(a, 'l'), 'y') << "a Unix socket";
    EXPECT_EQ(ask(b, 't'), 'y');
    EXPECT_EQ(ask(stranger, 't'), 'y');
    EXPECT_EQ(of(pod_a).refused, 3);
    EXPECT_EQ(bpf_->sockets().refused(cgroups_.id(pod_a)), 3);
    EXPECT_EQ(open(pod_a), 1) << "what was refused is not open, what was open is";

    ASSERT_TRUE(refuse(pod_b));
    EXPECT_EQ(ask(a, 't'), 'y') << "it is another's turn";
    EXPECT_EQ(ask(b, 't'), 'p');
    ASSERT_TRUE(bpf_->sockets().refuse({}, {}));
    EXPECT_EQ(ask(b, 't'), 'y');
    EXPECT_EQ(of(pod_b).refused, 1);
    ASSERT_EQ(ask(a, 'c'), 'y');
    EXPECT_EQ(open(pod_a), 0);
}

TEST_F(Sockets, ARefusalThatIsNotRepeatedLapses) {
    const PodProcess a(cgroups_, in_a, open_as_told);
    ASSERT_TRUE(refuse(pod_a, std::chrono::milliseconds(200)));
    EXPECT_TRUE(eventually([&] { return ask(a, 't') == 'y'; })) << "an agent that hangs keeps it from them for good";
}

// In a process of its own, with programs of its own, which is killed.
TEST_F(Sockets, AnAgentsDeathGivesThemBack) {
    const PodProcess a(cgroups_, in_a, open_as_told);
    const std::string pins = "/sys/fs/bpf/evictd-test-" + std::to_string(::getpid());
    const auto root = cgroups_.pods_root("kubepods");
    const auto victim = cgroups_.id(pod_a);
    PodProcess agent(cgroups_, outside, [&](const Line& line) {
        const auto bpf = load_bpf(pins);
        const bool shed =
            bpf && (*bpf)->follow(root) && (*bpf)->sockets().refuse(std::vector{victim}, now() + std::chrono::hours(1));
        line.say(shed ? 's' : 'n');
        line.hear();
    });
    ASSERT_EQ(agent.hear(), 's');
    EXPECT_EQ(ask(a, 't'), 'p');
    ::kill(agent.pid(), SIGKILL);
    ASSERT_TRUE(agent.killed_by(SIGKILL));
    EXPECT_TRUE(eventually([&] { return ask(a, 't') == 'y'; }));
    { const auto next = load_bpf(pins); }  // takes away what was left pinned
}

}  // namespace
}  // namespace evictd::kernel_test

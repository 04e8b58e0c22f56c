// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Three pods of the three kinds of place, whose processes open sockets when they are told to.
#pragma once

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "kernel/bpf_fixture.hpp"
#include "kernel/sockets.hpp"

namespace evictd::kernel_test {

inline const std::string pod_a = "kubepods/burstable/pod11111111-a";
inline const std::string pod_b = "kubepods/burstable/pod11111111-b";
inline const std::string pod_g = "kubepods/pod11111111-g";  // Guaranteed: no class above it
inline const std::string in_a = pod_a + "/container";
inline const std::string in_b = pod_b + "/container";
inline const std::string in_g = pod_g + "/container";
inline const std::string outside = "outside";  // in no pod; the test's root has children and on v2 holds no process

inline sys::Fd make_socket(int family, int type) { return sys::Fd(::socket(family, type | SOCK_CLOEXEC, 0)); }

// A letter a socket: 't' TCP, '6' TCP over IPv6, 'u' UDP, 'l' of the Unix kind; 'c' closes them all. Says 'y', 'p' if
// it is not permitted, 'n' otherwise.
inline void open_as_told(const Line& line) {
    std::vector<sys::Fd> open;
    for (;;) {
        const char order = line.hear();
        if (order == 'c') {
            open.clear();
            line.say('y');
            continue;
        }
        const int family = order == 'l' ? AF_UNIX : order == '6' ? AF_INET6 : AF_INET;
        auto socket = make_socket(family, order == 'u' ? SOCK_DGRAM : SOCK_STREAM);
        line.say(socket ? 'y' : errno == EPERM ? 'p' : 'n');
        if (socket) open.push_back(std::move(socket));
    }
}

inline char ask(const PodProcess& pod, char order) {
    pod.say(order);
    return pod.hear().value_or('?');
}

struct Sockets : WithBpf {
    void SetUp() override {
        WithBpf::SetUp();
        if (hierarchies().v2_mount().empty()) GTEST_SKIP() << "no v2 hierarchy is mounted on this machine";
        make_pods_root(std::nullopt);
        for (const auto& name : {in_a, in_b, in_g, outside}) cgroups_.make(name);
    }
    void TearDown() override {
        if (bpf_ != nullptr) {
            EXPECT_TRUE(bpf_->sockets().refuse({}, {}));
        }
        WithBpf::TearDown();
    }
    [[nodiscard]] PodSockets of(const std::string& pod) const {
        const auto all = bpf_->sockets().read();
        EXPECT_TRUE(all) << all.error().text();
        for (const auto& each : *all) {
            if (each.pod == cgroups_.id(pod)) return each;
        }
        return {};
    }
    [[nodiscard]] std::int64_t open(const std::string& pod) const { return of(pod).open; }
    [[nodiscard]] bool known(const std::string& cgroup) const { return of(cgroup).pod == cgroups_.id(cgroup); }
    // Ends of connections are closed by the kernel in its own time.
    [[nodiscard]] bool comes_to(const std::string& pod, std::int64_t wanted) const {
        return eventually([&] { return open(pod) == wanted; });
    }
    // Once its processes have ended.
    void remove_pod(const std::string& pod, const std::string& container) {
        (void)pending();  // the agent knows that it was made
        ASSERT_TRUE(eventually([&] { return cgroups_.processes(container).empty(); }));
        cgroups_.remove(container);
        cgroups_.remove(pod);
        (void)pending();  // the agent hears of it
    }
    void expect_nothing_of(CgroupId pod) const {
        const auto all = bpf_->sockets().read();
        ASSERT_TRUE(all);
        for (const auto& each : *all) EXPECT_NE(each.pod, pod);
    }
    Status refuse(const std::string& pod, Duration within = patience) {
        return bpf_->sockets().refuse(std::vector{cgroups_.id(pod)}, now() + within);
    }
};

}  // namespace evictd::kernel_test

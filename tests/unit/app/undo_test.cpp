// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/undo.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/claims.hpp"
#include "fakes/temp_dir.hpp"
#include "kernel/hierarchies.hpp"
#include "reconcile/raised_scores.hpp"
#include "sys/fd.hpp"

namespace evictd::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Longer than PATH_MAX: what is there is unknown.
const std::string too_long = "/" + std::string(5000, 'x');

struct Undo : testing::Test {
    void SetUp() override {
        if (!kernel::find_hierarchies()) GTEST_SKIP() << "no memory controller";
        config.agent.state_path = dir / "state";
        config.agent.bpffs_path = dir / "bpf";
        config.agent.socket_path = dir / "socket";
        config.agent.intents_path = dir / "intents";
    }
    // As an agent that was killed leaves it.
    void leave_socket() {
        const sys::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
        config.agent.socket_path.copy(&address.sun_path[0], sizeof(address.sun_path) - 1);
        ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    }
    fakes::TempDir dir;
    Config config;
};

TEST_F(Undo, APodsRootThatCannotBeLookedAtKeepsNothingElseFromBeingPutBack) {
    config.cgroup_root = too_long;
    leave_socket();
    const auto result = undo(config);
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_THAT(result->done, ElementsAre(HasSubstr("removed the socket")));
    ASSERT_EQ(result->failed.size(), 1U);
    EXPECT_THAT(result->failed[0].text(), HasSubstr("it is unknown whether there is one"));
}

TEST_F(Undo, OnlyWhereThereIsNoPodsRootDoesItAskForItsName) {
    if (::geteuid() != 0) GTEST_SKIP() << "the ledgers are root's";
    const reconcile::RaisedPods raised{{PodUid{"uid-a"}, {.cgroup = CgroupId{1}, .processes = {{1, 1, 0}}}}};
    const auto remedy_of = [&](const std::string& root) {
        config.cgroup_root = root;
        EXPECT_TRUE(claim_state(config.agent.state_path));
        EXPECT_TRUE(reconcile::remember_raised(raised_path(config.agent), raised));
        const auto result = undo(config);
        EXPECT_TRUE(result && result->failed.size() == 1);
        return result && !result->failed.empty() ? result->failed[0].remedy : "";
    };
    EXPECT_THAT(remedy_of("/no-such-root-of-evictd"), HasSubstr("cgroupRoot"));
    EXPECT_EQ(remedy_of(too_long), "");
    EXPECT_TRUE(std::filesystem::exists(raised_path(config.agent))) << "to be put back when the pods can be seen";
}

}  // namespace
}  // namespace evictd::app

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An agent that was there before its container runtime: what it says of that, and what it does once a real containerd
// has come.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fakes/temp_dir.hpp"
#include "runtime_fixture.hpp"

namespace evictd::cri_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr auto unused_image = "localhost/spare:1";

class LateRuntimeTest : public RuntimeFixture {
protected:
    void SetUp() override {
        kill_containerd();
        ASSERT_EQ(::unlink(socket.c_str()), 0);
    }
    void TearDown() override {
        if (agent_ > 0) {
            (void)::kill(agent_, SIGTERM);
            EXPECT_EQ(::waitpid(agent_, nullptr, 0), agent_);
        }
        if (HasFailure()) ADD_FAILURE() << text_of(directory_ / "agent.log") << events();
        if (::access(socket.c_str(), F_OK) != 0) start_containerd();
        if (!has_image(unused_image)) {  // others need it
            const auto import = from_environment("CRI_CTR") + " -a " + socket + " -n k8s.io image import " +
                                from_environment("CRI_IMAGES") + "/spare.tar > /dev/null";
            EXPECT_EQ(std::system(import.c_str()), 0);  // NOLINT(cert-env33-c)
        }
        RuntimeFixture::TearDown();
    }
    // In the rig's mount namespace, as there the directories of a node are its own; with containerd's socket where a
    // runtime usually has it.
    void start_agent(const std::string& config) {
        std::ofstream(directory_ / "evictd.yaml")
            << "cgroupRoot: " << from_environment("CRI_CGROUP") << "\n"
            << config << "evictd:\n  disks: true\n  podManifestPath: " << (directory_ / "pods")
            << "\n  socketPath: " << (directory_ / "evictd.sock") << "\n  statePath: " << (directory_ / "state")
            << "\n  intentsPath: " << (directory_ / "intents")
            << "\n  bpf: off\n  gc: {keepImages: [\"localhost/load:*\"]}\n  eventLog: {path: "
            << (directory_ / "events.jsonl") << ", stdout: false}\n";
        const auto sockets = socket.substr(0, socket.rfind('/'));
        std::ifstream(sockets + "/../keeper.pid") >> keeper_;
        const auto command = "exec nsenter --mount=/proc/" + std::to_string(keeper_) +
                             "/ns/mnt unshare --mount sh -c 'mount --bind " + sockets + " /run/containerd && exec " +
                             from_environment("CRI_EVICTD") + " run --config " + (directory_ / "evictd.yaml") + "' > " +
                             (directory_ / "agent.log") + " 2>&1";
        agent_ = ::fork();
        ASSERT_GE(agent_, 0);
        if (agent_ == 0) {
            ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);  // NOLINT(cppcoreguidelines-pro-type-vararg)
            ::_exit(127);
        }
    }
    void declare(const std::string& uid, const std::string& limit) const {
        directory_.write("pods/late.yaml",
                         "apiVersion: v1\nkind: Pod\nmetadata: {name: late, uid: " + uid +
                             "}\nspec:\n  containers:\n"
                             "  - {name: late, image: load, resources: {limits: {ephemeral-storage: " +
                             limit + "}}}\n");
    }
    [[nodiscard]] static std::string text_of(const std::string& path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }
    [[nodiscard]] std::string events() const { return text_of(directory_ / "events.jsonl"); }
    [[nodiscard]] std::string status() const {
        const auto out = directory_ / "status.json";
        const auto command = from_environment("CRI_EVICTD") + " status -o json --socket " +
                             (directory_ / "evictd.sock") + " > " + out + " 2> /dev/null";
        return std::system(command.c_str()) == 0 ? text_of(out) : "";  // NOLINT(cert-env33-c)
    }
    [[nodiscard]] bool has_image(const std::string& tag) {
        const auto all = runtime->images();
        return all && std::any_of(all->begin(), all->end(), [&](const auto& one) {
                   return std::find(one.tags.begin(), one.tags.end(), tag) != one.tags.end();
               });
    }
    static bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

    fakes::TempDir directory_;
    pid_t agent_ = 0;
    pid_t keeper_ = 0;
};

class LateWithAPodTest : public LateRuntimeTest {
protected:
    // A pod that keeps 8 MiB in its container's layer; it goes on without containerd.
    void SetUp() override {
        cgroup += "/kubepods/besteffort";
        container = make_container(make_pod("uid-of-late"), "late",
                                   {"sh", "-c", "head -c 8388608 /dev/zero > /full; exec sleep 1000000"});
        start(container);
        EXPECT_TRUE(wait_for([&] {
            const auto layers = runtime->layer(container);
            return layers && layers->size() == 1 && layers->front().layer &&
                   layers->front().layer->used >= Bytes{8388608};
        }));
        LateRuntimeTest::SetUp();
    }
    std::string container;
};

TEST_F(LateWithAPodTest, ItsLayersAreKnownOnceItIsThere) {
    declare("uid-of-late", "4Mi");
    start_agent("evictionHard: {memory.available: 1Mi}\n");
    EXPECT_TRUE(wait_for([&] {
        return has(status(), "none at /run/containerd/containerd.sock or /run/crio/crio.sock");
    })) << status();
    EXPECT_TRUE(wait_for([&] { return has(events(), "The container runtime does not answer"); }));
    EXPECT_TRUE(wait_for([&] { return has(status(), "\"late\""); }));
    EXPECT_THAT(events(), Not(HasSubstr("\"Evicting\""))) << "what it keeps is not known";
    start_containerd();
    EXPECT_TRUE(wait_for([&] { return has(events(), "The container runtime answers again at /run/containerd"); }));
    EXPECT_TRUE(wait_for([&] { return has(events(), "\"Evicting\""); })) << "it keeps more than its limit";
    EXPECT_THAT(status(), HasSubstr("filesystems, survey, /run/containerd/containerd.sock"));
    EXPECT_TRUE(wait_for([&] { return !has(status(), "none at /run/containerd"); })) << status();
    EXPECT_TRUE(wait_for([&] { return details_of(container).container.state == ContainerState::exited; }));
}

TEST_F(LateRuntimeTest, ItsGarbageIsRemovedOnceItIsThere) {
    start_agent("evictionHard: {nodefs.available: 99%}\nimageMinimumGCAge: 1s\ncontainerRuntimeEndpoint: unix://" +
                socket + "\n");
    EXPECT_TRUE(wait_for([&] { return has(status(), "containerd.sock is not there"); })) << status();
    EXPECT_TRUE(wait_for([&] { return has(events(), "EvictionThresholdMet"); }));
    start_containerd();
    EXPECT_TRUE(wait_for([&] { return !has_image(unused_image); })) << "nobody uses it";
    EXPECT_THAT(events(), HasSubstr("The container runtime answers again at " + socket));
    EXPECT_TRUE(has_image("localhost/load:1") && has_image("localhost/pause:1"));
}

}  // namespace
}  // namespace evictd::cri_test

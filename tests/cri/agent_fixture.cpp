// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "agent_fixture.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <sys/wait.h>
#include <unistd.h>

namespace evictd::cri_test {
namespace {

std::string sockets() {
    const auto socket = from_environment("CRI_SOCKET");
    return socket.substr(0, socket.rfind('/'));
}

std::string enter_rig(pid_t keeper) { return "nsenter --mount=/proc/" + std::to_string(keeper) + "/ns/mnt "; }

}  // namespace

pid_t AgentFixture::keeper() {
    pid_t pid = 0;
    std::ifstream(sockets() + "/../keeper.pid") >> pid;
    return pid;
}

bool AgentFixture::run_in_rig(const std::string& command) {
    return std::system((enter_rig(keeper()) + command).c_str()) == 0;  // NOLINT(cert-env33-c)
}

void AgentFixture::end_agent() {
    if (agent_ <= 0) return;
    (void)::kill(agent_, SIGTERM);
    EXPECT_EQ(::waitpid(agent_, nullptr, 0), agent_);
    agent_ = 0;
}

void AgentFixture::TearDown() {
    end_agent();
    if (HasFailure()) ADD_FAILURE() << text_of(directory_ / "agent.log") << events();
    RuntimeFixture::TearDown();
}

void AgentFixture::start_agent(const std::string& config, const std::string& evictd, const std::string& prepare) {
    std::ofstream(directory_ / "evictd.yaml")
        << "cgroupRoot: " << from_environment("CRI_CGROUP") << "\n"
        << config << "evictd:\n  disks: true\n  podManifestPath: " << (directory_ / "pods")
        << "\n  socketPath: " << (directory_ / "evictd.sock") << "\n  statePath: " << (directory_ / "state")
        << "\n  intentsPath: " << (directory_ / "intents")
        << "\n  bpf: off\n  gc: {keepImages: [\"localhost/load:*\"]}\n  eventLog: {path: "
        << (directory_ / "events.jsonl") << ", stdout: false}\n"
        << evictd;
    const auto command = "exec " + enter_rig(keeper()) + "unshare --mount sh -c 'mount --bind " + sockets() +
                         " /run/containerd && " + (prepare.empty() ? "" : prepare + " && ") + "exec " +
                         from_environment("CRI_EVICTD") + " run --config " + (directory_ / "evictd.yaml") + "' > " +
                         (directory_ / "agent.log") + " 2>&1";
    agent_ = ::fork();
    ASSERT_GE(agent_, 0);
    if (agent_ == 0) {
        ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);  // NOLINT(cppcoreguidelines-pro-type-vararg)
        ::_exit(127);
    }
}

std::string AgentFixture::text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::string AgentFixture::status() const {
    const auto out = directory_ / "status.json";
    const auto command = from_environment("CRI_EVICTD") + " status -o json --socket " + (directory_ / "evictd.sock") +
                         " > " + out + " 2> /dev/null";
    return std::system(command.c_str()) == 0 ? text_of(out) : "";  // NOLINT(cert-env33-c)
}

bool AgentFixture::has_image(const std::string& tag) {
    const auto all = runtime->images();
    return all && std::any_of(all->begin(), all->end(), [&](const auto& one) {
               return std::find(one.tags.begin(), one.tags.end(), tag) != one.tags.end();
           });
}

void AgentFixture::import_image(const std::string& name) {
    const auto import = from_environment("CRI_CTR") + " -a " + socket + " -n k8s.io image import " +
                        from_environment("CRI_IMAGES") + "/" + name + ".tar > /dev/null";
    EXPECT_EQ(std::system(import.c_str()), 0);  // NOLINT(cert-env33-c)
}

}  // namespace evictd::cri_test

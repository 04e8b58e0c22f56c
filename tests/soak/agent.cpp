// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The agent of the node: started, reloaded, ended, killed, undone.
#include <csignal>
#include <fstream>
#include <string>

#include <sys/wait.h>

#include "files.hpp"
#include "node.hpp"

namespace evictd::soak {
namespace fs = std::filesystem;
namespace {

constexpr int starts_within_ms = 20'000;  // loading BPF takes a second on a busy machine
constexpr int ends_within_ms = 10'000;
constexpr int reloads_within_ms = 10'000;

}  // namespace

void Node::write_config(std::size_t mib) const {
    std::ofstream(work_ + "/config.yaml")
        << "evictionHard: {allocatableMemory.available: " << mib << "Mi}\ncgroupRoot: /" << name_
        << "\nevictionPressureTransitionPeriod: 1s\nevictd:\n  podManifestPath: " << work_
        << "/pods\n  socketPath: " << work_ << "/run/evictd.sock\n  statePath: " << work_
        << "/state\n  bpffsPath: /sys/fs/bpf/" << name_ << "\n  eventLog: {path: " << events()
        << ", stdout: false}\n  ladder: {squeeze: true, freeze: true, freezeFor: 200ms}\n";
}

std::size_t Node::events_of(const std::string& reason) const {
    const std::string text = read_file(events());
    std::size_t count = 0;
    for (auto at = text.find(reason); at != std::string::npos; at = text.find(reason, at + 1)) count++;
    return count;
}

bool Node::set_threshold(std::size_t mib) {
    write_config(mib);
    if (agent_ <= 0) return true;
    const std::size_t before = events_of("\"reason\":\"ConfigReloaded\"");
    (void)::kill(agent_, SIGHUP);
    for (int waited = 0; waited < reloads_within_ms; waited += 5) {
        if (events_of("\"reason\":\"ConfigReloaded\"") > before) return true;
        sleep_ms(5);
    }
    return false;
}

bool Node::start_agent() {
    const std::size_t before = events_of("\"reason\":\"AgentStarted\"");
    agent_ = spawn({evictd_, "run", "--config", work_ + "/config.yaml"}, log(), "0");
    int status = 0;
    for (int waited = 0; waited < starts_within_ms; waited += 10) {
        if (events_of("\"reason\":\"AgentStarted\"") > before) return true;
        if (::waitpid(agent_, &status, WNOHANG) != 0) break;
        sleep_ms(10);
    }
    agent_ = -1;
    return false;
}

bool Node::stop_agent() {
    int status = 0;
    (void)::kill(agent_, SIGTERM);
    if (!ended(agent_, ends_within_ms, status)) {
        kill_agent();
        return false;
    }
    agent_ = -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void Node::kill_agent() {
    (void)::kill(agent_, SIGKILL);
    (void)::waitpid(agent_, nullptr, 0);
    agent_ = -1;
}

bool Node::undo() {
    int status = 0;
    return ended(spawn({evictd_, "undo", "--config", work_ + "/config.yaml"}, log(), "0"), ends_within_ms, status) &&
           WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Words Node::left_behind(bool socket) const {
    Words left;
    if (fs::exists("/sys/fs/bpf/" + name_)) left.push_back("pins in /sys/fs/bpf/" + name_);
    if (socket && fs::exists(work_ + "/run/evictd.sock")) left.emplace_back("the status socket");
    for (const auto& mount : mounts_) {
        for (const auto& group : subtree(mount + "/" + name_)) {
            const std::string state = read_file(group / "freezer.state");
            // On v2 an empty cgroup may stay frozen: it is no process's.
            const bool frozen =
                state.starts_with("FR") || (number_in(read_file(group / "cgroup.events"), "frozen") == 1 &&
                                            number_in(read_file(group / "cgroup.events"), "populated") == 1);
            if (frozen) left.push_back("frozen: " + group.string());
        }
    }
    return left;
}

}  // namespace evictd::soak

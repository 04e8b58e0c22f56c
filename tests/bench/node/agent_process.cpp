// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "agent_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <fstream>
#include <vector>

#include <bpf/bpf.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codec/event_json.hpp"
#include "publish/status_client.hpp"

namespace evictd::bench {
namespace {

// Loading BPF takes a second on a busy machine; ten times that is broken.
constexpr Duration starts_within = std::chrono::seconds(20);
// How exact a wait for the agent is.
constexpr std::chrono::milliseconds map_glance{1};

void nap(std::chrono::milliseconds time) {
    const timespec span{0, std::chrono::nanoseconds(time).count()};
    (void)nanosleep(&span, nullptr);
}

void write_config(const std::string& file, const PodTree& tree, const std::string& directory, Bytes threshold,
                  const std::string& socket, const std::string& bpffs) {
    std::ofstream(file) << "evictionHard: {allocatableMemory.available: " << threshold.value
                        << "}\ncgroupRoot: " << tree.cgroup_root()
                        << "\nevictd:\n  podManifestPath: " << tree.manifests() << "\n  socketPath: " << socket
                        << "\n  statePath: " << directory << "/state\n  eventLog: {path: " << directory
                        << "/events.jsonl}\n  bpffsPath: " << bpffs << "\n";
}

}  // namespace

std::size_t value_size(const sys::Fd& map) {
    bpf_map_info info{};
    std::uint32_t size = sizeof(info);
    return map && bpf_obj_get_info_by_fd(map.get(), &info, &size) == 0 ? info.value_size : 0;
}

Result<std::unique_ptr<AgentProcess>> AgentProcess::start(const std::string& program, const PodTree& tree,
                                                          const std::string& directory, Bytes threshold) {
    std::unique_ptr<AgentProcess> agent(new AgentProcess);
    agent->socket_ = directory + "/evictd.sock";
    agent->bpffs_ = "/sys/fs/bpf/evictd-bench-" + std::to_string(getpid());
    const std::string config = directory + "/config.yaml";
    write_config(config, tree, directory, threshold, agent->socket_, agent->bpffs_);
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        return sys::fail_errno("pipe", errno);
    }
    agent->events_ = sys::Fd(ends[0]);
    const sys::Fd writing(ends[1]);
    agent->pid_ = fork();
    if (agent->pid_ == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        const int log = open((directory + "/agent.log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
        (void)dup2(writing.get(), STDOUT_FILENO);
        (void)dup2(log, STDERR_FILENO);
        (void)execl(program.c_str(), program.c_str(), "run", "--config", config.c_str(), nullptr);
        _exit(127);
    }
    while (const auto event = agent->next_event(starts_within)) {
        if (event->reason == codec::Reason::agent_started) {
            return agent;
        }
    }
    return fail(ErrorKind::failed, program, "did not start", "see " + directory + "/agent.log");
}

AgentProcess::~AgentProcess() {
    if (pid_ > 0) {
        (void)kill(pid_, SIGTERM);
        (void)waitpid(pid_, nullptr, 0);
    }
}

std::optional<codec::Event> AgentProcess::next_event(Duration timeout) {
    for (;;) {
        if (const auto end = unread_.find('\n'); end != std::string::npos) {
            auto event = codec::event_from_json(std::string_view(unread_).substr(0, end));
            unread_.erase(0, end + 1);
            if (event) {
                return std::move(*event);
            }
            continue;
        }
        pollfd ready{events_.get(), POLLIN, 0};
        const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count();
        if (poll(&ready, 1, static_cast<int>(wait)) <= 0) {
            return std::nullopt;
        }
        std::array<char, 16384> text{};
        const ssize_t got = read(events_.get(), text.data(), text.size());
        if (got <= 0) {
            return std::nullopt;
        }
        unread_.append(text.data(), static_cast<std::size_t>(got));
    }
}

Status AgentProcess::wait_for_pod(std::uint64_t cgroup, Duration timeout) {
    const sys::Fd pods(bpf_obj_get((bpffs_ + "/pods").c_str()));
    // An agent of another version may have larger entries, and the kernel writes a whole one.
    std::vector<std::byte> pod(value_size(pods));
    for (Duration waited{0}; !pod.empty() && waited < timeout; waited += map_glance) {
        if (bpf_map_lookup_elem(pods.get(), &cgroup, pod.data()) == 0) {
            return {};
        }
        nap(map_glance);
    }
    return fail(ErrorKind::failed, "cgroup " + std::to_string(cgroup), "the agent does not know this pod");
}

Result<std::string> AgentProcess::status() {
    auto client = publish::StatusClient::connect(socket_);
    return client ? client->ask({.verb = codec::RequestVerb::status}) : tl::unexpected<Error>(client.error());
}

}  // namespace evictd::bench

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A node for the soak: a cgroup with a memory limit, pods with real processes, a real agent that is started, stopped
// and killed. Everything it makes goes with it. It judges nothing.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace evictd::soak {

using Words = std::vector<std::string>;

struct Pod {
    std::string name;
    std::string cgroup;     // below the mount points
    std::size_t mib = 0;    // what it will hold
    bool innocent = false;  // within its request: it must live
    bool returns = true;    // its memory comes back when its processes are gone
    bool grows = false;
    std::vector<pid_t> processes;  // children of ours
};

class Node {
public:
    static constexpr std::size_t limit_mib = 256;

    Node(std::string evictd, std::string attacker);
    ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    [[nodiscard]] bool made() const { return made_; }

    Pod add(const std::string& name, std::size_t request_mib);
    // In the pod's container, or below it. Returns when the attack is set up.
    void start(Pod& pod, const Words& attack, const std::string& below = "");
    void remove(Pod& pod);
    [[nodiscard]] static bool lives(const Pod& pod);  // every process that was started in it
    [[nodiscard]] std::string directory(const Pod& pod, const std::string& below) const;  // in the memory hierarchy
    [[nodiscard]] std::size_t available_mib() const;
    [[nodiscard]] std::size_t held_mib(const Pod& pod) const;  // its working set

    bool set_threshold(std::size_t mib);  // in force when it returns true
    bool start_agent();
    bool stop_agent();  // it ended with 0, in time
    void kill_agent();
    bool undo();
    [[nodiscard]] bool agent_runs() const { return agent_ > 0; }

    // By an agent that has ended; the socket of a killed one is replaced by the next agent's.
    [[nodiscard]] Words left_behind(bool socket) const;
    [[nodiscard]] std::string volume() const { return work_ + "/volume"; }  // a tmpfs
    [[nodiscard]] std::string big_file() const { return work_ + "/hole"; }
    [[nodiscard]] std::string events() const { return work_ + "/events.jsonl"; }
    [[nodiscard]] std::string log() const { return work_ + "/agent.log"; }

private:
    bool make();
    bool make_cgroup(const std::string& path) const;
    void empty(const std::string& path) const;
    void write_config(std::size_t mib) const;
    [[nodiscard]] std::size_t used_bytes(const std::string& directory) const;  // without inactive file pages
    [[nodiscard]] std::size_t events_of(const std::string& reason) const;
    pid_t spawn(const Words& words, const std::string& output, const std::string& score) const;  // its oom_score_adj

    std::string evictd_;
    std::string attacker_;
    std::string name_;
    std::string work_;
    std::vector<std::string> mounts_;  // memory's first
    bool v2_ = false;
    bool made_ = false;
    pid_t agent_ = -1;
    std::size_t started_ = 0;
};

}  // namespace evictd::soak

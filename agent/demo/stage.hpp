// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the demo makes on the machine: a cgroup tree, pods with real processes, the real agent. Its destructor takes all
// of it away again, whatever state it is in.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demo/child.hpp"
#include "demo/documents.hpp"
#include "demo/line_reader.hpp"
#include "demo/scenario.hpp"
#include "demo/scratch.hpp"
#include "demo/verdict.hpp"
#include "evictd/model/result.hpp"
#include "kernel/cgroup_tree.hpp"

namespace evictd::demo {

// A pod on the stage, and what its process has said.
struct Actor {
    const PodPlan* plan = nullptr;
    Child process;
    LineReader lines;
    bool holding = false;
    bool filled = false;
    bool asked_to_end = false;
    bool refused = false;  // a socket
    int opened = 0;        // times it said so
};

class Stage {
public:
    // Removes what earlier demos left, makes the cgroups and the files. `bpf`: let the agent use it.
    // `agent` is the path of evictd.
    static Result<std::unique_ptr<Stage>> make(Plan plan, std::string agent, bool bpf);
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;
    ~Stage();

    // Starts every pod's process. Each enters its cgroup, and exits if it cannot, before it takes any memory.
    Status start_pods();
    // What a pod's process said since the last call; carries its part of the play on. False: it will say no more.
    Result<bool> hear(Actor& actor);
    // Begins what the plan's actor is there for, and its neighbour.
    void act();
    Status start_agent();
    void stop_agent();
    // The last lines the agent wrote to stderr, for when it went wrong.
    [[nodiscard]] std::string agent_errors() const;

    [[nodiscard]] const Plan& plan() const { return plan_; }
    [[nodiscard]] const AgentPlaces& places() const { return places_; }
    [[nodiscard]] std::vector<std::unique_ptr<Actor>>& pods() { return pods_; }
    [[nodiscard]] Actor& actor() { return *pods_[plan_.actor]; }
    [[nodiscard]] Child& agent() { return *agent_; }
    [[nodiscard]] Result<Bytes> usage() const { return tree_.usage(std::string(pods_root)); }
    // The kernel's counter, over all pods.
    [[nodiscard]] Result<std::uint64_t> oom_kills() const { return tree_.oom_kills(); }
    // Which processes have ended, and how; and the OOM kills.
    [[nodiscard]] Result<Facts> facts();

    // The agent in order, then the pods, then every trace of them. Names what could not be removed.
    Status tear_down();

private:
    Stage(Plan plan, std::string agent, AgentPlaces places, Scratch scratch, kernel::CgroupTree tree);
    Status write_files(bool bpf);
    Status make_cgroups();
    [[nodiscard]] Result<std::vector<std::string>> arguments_for(const PodPlan& pod) const;
    [[nodiscard]] Status note(Actor& actor, std::string_view word);

    Plan plan_;
    std::string agent_program_;
    AgentPlaces places_;
    Scratch scratch_;
    kernel::CgroupTree tree_;
    std::vector<std::unique_ptr<Actor>> pods_;
    std::optional<Child> agent_;
    int opened_meanwhile_ = 0;  // times the neighbour said so while the actor got no sockets
    bool torn_down_ = false;
};

}  // namespace evictd::demo

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Processes with an oom_score_adj each, behind the port: who they are, what they have, how low they may go.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "evictd/port/process_scores.hpp"

namespace evictd::fakes {

struct FakeProcess {
    pid_t pid = 0;
    int score = 0;
    std::string container = "app";
    int lowest = -1000;  // below this only with CAP_SYS_RESOURCE
    std::uint64_t started = 1;
};

class FakeScores final : public port::ProcessScores {
public:
    std::map<CgroupId, std::vector<FakeProcess>> processes;
    std::function<void(FakeProcess&)> after_set;  // what the pod does about it
    std::vector<std::string> log;                 // "pid=score"

    std::function<void()> on_visit;  // of each process: what that costs

    [[nodiscard]] Result<std::vector<pid_t>> list(const port::PodCgroup& pod) override {
        ++rounds;
        if (list_error) return tl::unexpected(*list_error);
        const auto found = processes.find(pod.id());
        if (found == processes.end()) return fail(ErrorKind::vanished, pod.path(), "the cgroup is gone");
        std::vector<pid_t> pids;
        for (const auto& process : found->second) pids.push_back(process.pid);
        return pids;
    }
    Status visit(const port::PodCgroup& pod, std::span<const pid_t> pids, const Visit& visit) override {
        const auto found = processes.find(pod.id());
        if (found == processes.end()) return {};
        for (const pid_t pid : pids) {
            const auto process = std::find_if(found->second.begin(), found->second.end(),
                                              [&](const FakeProcess& one) { return one.pid == pid; });
            if (process == found->second.end()) continue;
            ++visits;
            if (on_visit) on_visit();
            Handle handle(*this, *process);
            visit(handle);
        }
        return visit_error ? Status(tl::unexpected(*visit_error)) : Status{};
    }
    std::optional<Error> list_error;
    std::optional<Error> visit_error;  // as if there were one more process, which cannot be opened
    std::optional<Error> score_error;
    std::size_t visits = 0;
    [[nodiscard]] FakeProcess& at(std::uint64_t cgroup, std::size_t index = 0) {
        return processes.at(CgroupId{cgroup}).at(index);
    }
    int rounds = 0;

private:
    class Handle final : public port::ScoredProcess {
    public:
        Handle(FakeScores& all, FakeProcess& process) : all_(all), process_(process) {}
        [[nodiscard]] pid_t pid() const override { return process_.pid; }
        [[nodiscard]] std::uint64_t started() const override { return process_.started; }
        [[nodiscard]] std::string container() const override { return process_.container; }
        [[nodiscard]] Result<int> score() const override {
            return all_.score_error ? Result<int>(tl::unexpected(*all_.score_error)) : Result<int>(process_.score);
        }
        [[nodiscard]] Status set_score(int score) override {
            if (score < process_.lowest) return fail(ErrorKind::not_permitted, "oom_score_adj", "Permission denied");
            process_.score = score;
            all_.log.push_back(std::to_string(process_.pid) + "=" + std::to_string(score));
            if (all_.after_set) all_.after_set(process_);
            return {};
        }

    private:
        FakeScores& all_;
        FakeProcess& process_;
    };
};

}  // namespace evictd::fakes

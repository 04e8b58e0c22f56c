// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Real processes without root, and a cgroup that says they are in it.
#pragma once

#include <algorithm>
#include <atomic>
#include <csignal>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evictd/port/cgroups.hpp"
#include "sys/fd.hpp"

namespace evictd::act {

// Waits to be killed. Gone with the object at the latest.
class Child {
public:
    Child() : pid_(fork()) {
        while (pid_ == 0) (void)pause();
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (!reaped_) {
            (void)::kill(pid_, SIGKILL);
            (void)waitpid(pid_, nullptr, 0);
        }
    }

    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] bool alive() const {
        siginfo_t info{};
        return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
    }
    // Waits for its end; by which signal it ended.
    int ended_by() {
        int status = 0;
        (void)waitpid(pid_, &status, 0);
        reaped_ = true;
        return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }

private:
    pid_t pid_;
    bool reaped_ = false;
};

// What is in it is whatever `list` says at each look.
class ListedCgroup : public port::PodCgroup {
public:
    using List = std::function<Result<std::vector<pid_t>>(int look)>;
    explicit ListedCgroup(List list) : list_(std::move(list)) {}

    [[nodiscard]] CgroupId id() const override { return {7}; }
    [[nodiscard]] const std::string& path() const override { return path_; }
    [[nodiscard]] Result<std::vector<pid_t>> processes() const override { return list_(looks++); }
    // One cgroup, in batches of `batch`.
    Status each_batch(port::Listing listing,
                      const std::function<bool(const port::ProcessBatch&)>& visit) const override {
        thorough = thorough || listing == port::Listing::thorough;
        auto listed = processes();
        if (!listed) return tl::unexpected(listed.error());
        std::sort(listed->begin(), listed->end());
        const auto again = [this] {
            return processes().map([](auto pids) { return std::sort(pids.begin(), pids.end()), pids; });
        };
        for (std::size_t begin = 0; begin == 0 || begin < listed->size(); begin += batch) {
            const auto count = std::min(batch, listed->size() - begin);
            if (!visit({std::span<const pid_t>(listed->data() + begin, count), again})) break;
        }
        return each_result;
    }
    [[nodiscard]] Result<bool> holds_us() const override {
        const auto file = sys::open("/dev/null", O_RDONLY);
        return file || !opens_files ? Result<bool>(has_us) : tl::unexpected(file.error());
    }
    [[nodiscard]] bool surely_empty() const override { return counted_empty; }
    [[nodiscard]] Result<std::int64_t> tasks() const override { return counted_empty ? 0 : 1; }
    [[nodiscard]] Result<bool> populated() const override { return !counted_empty; }
    [[nodiscard]] Result<HeldMemory> held_memory() const override { return HeldMemory{}; }
    [[nodiscard]] Result<bool> drop_cache() const override { return true; }
    [[nodiscard]] bool can_kill() const override { return has_kill; }
    [[nodiscard]] Status kill() const override {
        kills++;
        looks_at_kill = looks.load();
        return kill_result;
    }
    [[nodiscard]] bool can_freeze() const override { return true; }
    [[nodiscard]] Status freeze() const override {
        freezes++;
        frozen = true;
        if (on_freeze) on_freeze();
        return {};
    }
    [[nodiscard]] Status thaw() const override {
        thaws++;
        frozen = !thaw_result;
        return thaw_result;
    }

    Status thaw_result;
    bool has_kill = false;
    bool has_us = false;
    bool opens_files = false;
    std::size_t batch = 256;
    Status each_result;
    std::function<void()> on_freeze;
    mutable std::atomic<bool> counted_empty = false;
    mutable std::atomic<bool> thorough = false;
    Status kill_result;
    mutable std::atomic<int> looks = 0;
    mutable std::atomic<int> kills = 0;
    mutable std::atomic<int> looks_at_kill = 0;
    mutable std::atomic<int> freezes = 0;
    mutable std::atomic<int> thaws = 0;
    mutable std::atomic<bool> frozen = false;

private:
    List list_;
    std::string path_ = "/kubepods/pod7";
};

[[nodiscard]] inline std::vector<pid_t> pids(const std::vector<const Child*>& children) {
    std::vector<pid_t> list;
    for (const auto* child : children) list.push_back(child->pid());
    return list;
}

}  // namespace evictd::act

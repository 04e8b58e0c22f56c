// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A pod to be killed: processes that hold memory, in cgroups of its own, and others that want the CPU beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "sys/fd.hpp"

namespace evictd::bench {

// Throws what errno says.
[[noreturn]] void die(const std::string& what);
// A child that does `work` and ends, with this program at the latest.
[[nodiscard]] pid_t start_child(const std::function<void()>& work);

// The memory cgroup with a limit and the cpu cgroup with a weight: two directories on v1, one on v2. Made here, removed
// here.
class PodCgroups {
public:
    // `shares` as on v1; 2 is a BestEffort pod's.
    PodCgroups(std::int64_t limit, int shares);
    PodCgroups(const PodCgroups&) = delete;
    PodCgroups& operator=(const PodCgroups&) = delete;
    ~PodCgroups();

    void enter() const;  // the calling process
    [[nodiscard]] std::int64_t usage() const;
    [[nodiscard]] bool is_v2() const { return v2_; }
    void kill_all() const;  // cgroup.kill
    void set_shares(int shares) const;

private:
    [[nodiscard]] bool write(const std::string& directory, const std::string& file, const std::string& text) const;

    bool v2_;
    std::string memory_;
    std::string cpu_;  // empty: v1 without it
    sys::Fd usage_;
};

struct Holding {
    std::int64_t bytes = 0;
    bool huge = false;
    int pieces = 1;  // mappings, with a gap between them
};

// A child that holds its memory and waits for its end.
class Victim {
public:
    Victim(const PodCgroups& cgroups, const Holding& holding);
    Victim(Victim&&) = default;
    Victim& operator=(Victim&&) = delete;
    Victim(const Victim&) = delete;
    Victim& operator=(const Victim&) = delete;
    ~Victim();  // kills it if it lives, and reaps it

    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] int pidfd() const { return pidfd_.get(); }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }

private:
    pid_t pid_ = -1;
    sys::Fd pidfd_;
    std::int64_t bytes_;
};

// Maps and touches it all. What was asked for and is not there (huge pages, or none) ends the program.
std::vector<char*> take(const Holding& holding);

// Children that use a whole CPU each, of the normal policy, for as long as this lives and five minutes at most.
class Spinners {
public:
    explicit Spinners(int count);
    Spinners(const Spinners&) = delete;
    Spinners& operator=(const Spinners&) = delete;
    ~Spinners();

private:
    std::vector<pid_t> pids_;
};

}  // namespace evictd::bench

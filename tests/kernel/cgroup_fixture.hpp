// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A test's own cgroups, "/evictd-test-<pid>-<n>" in every hierarchy a pod is in, made and removed with plain mkdir and
// rmdir: what they show does not depend on the code under test.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "evictd/model/ids.hpp"
#include "evictd/model/units.hpp"
#include "evictd/port/cgroups.hpp"
#include "kernel/hierarchies.hpp"

namespace evictd::kernel_test {

// Far more than anything here needs: an emulated machine computes 40 times slower. Only a test that fails waits so
// long.
inline constexpr Duration patience = std::chrono::seconds(60);

// Asked once; ends the program where this host has no memory controller.
const kernel::Hierarchies& hierarchies();

// Those of test programs that were killed.
void remove_leftovers();

// Looks every 2 ms until it holds. For state of the kernel that nobody is told about.
bool eventually(const std::function<bool()>& holds, Duration within = patience);

class TestCgroups {
public:
    TestCgroups();
    TestCgroups(const TestCgroups&) = delete;
    TestCgroups& operator=(const TestCgroups&) = delete;
    ~TestCgroups();  // ends whatever still runs inside

    // All paths are given below the test's root ("kubepods/pod1", "" is the root itself).
    [[nodiscard]] std::string root() const { return root_; }
    [[nodiscard]] std::string path(const std::string& name) const;  // below the mount point
    [[nodiscard]] CgroupId id(const std::string& name) const;       // in the memory hierarchy
    [[nodiscard]] port::PodsRoot pods_root(const std::string& name) const;

    // With its parents. On v2 only a cgroup without children can hold processes.
    void make(const std::string& name);
    void remove(const std::string& name) const;  // it must be empty
    void enter(const std::string& name, pid_t pid) const;

    [[nodiscard]] std::string read(const std::string& name, const std::string& file) const;  // "" if it cannot be
    bool write(const std::string& name, const std::string& file, const std::string& text) const;
    [[nodiscard]] std::int64_t number(const std::string& name, const std::string& file) const;
    [[nodiscard]] std::int64_t stat(const std::string& name, const std::string& key) const;  // memory.stat, own

    [[nodiscard]] std::int64_t usage(const std::string& name) const;
    // With everything below: v1's "total_" keys, v2's plain ones.
    [[nodiscard]] std::int64_t total(const std::string& name, const std::string& key) const;
    void limit_memory(const std::string& name, Bytes limit) const;
    void limit_processes(const std::string& name, int limit) const;
    void freeze(const std::string& name) const;                                 // and waits until it is
    [[nodiscard]] std::vector<pid_t> processes(const std::string& name) const;  // its own

private:
    void end_all() const;
    void set_frozen(const std::string& name, bool frozen) const;

    std::vector<std::string> mounts_;  // memory first
    std::string root_;
    std::vector<std::string> made_;  // parents first
};

}  // namespace evictd::kernel_test

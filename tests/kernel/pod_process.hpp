// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A real process in a test's cgroup. It allocates nothing before it has seen itself inside, and everything it may ever
// take is bounded: a test that goes wrong must not take the machine's memory.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>

#include "kernel/cgroup_fixture.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel_test {

// The child's end: one letter at a time, both ways.
class Line {
public:
    explicit Line(int fd) : fd_(fd) {}
    void say(char letter) const;
    char hear() const;  // waits; ends the process when the test is gone

private:
    int fd_;
};

class PodProcess {
public:
    using Body = std::function<void(const Line&)>;

    // Runs `body` in a forked process that is inside `cgroup`; ends with it. Returns once it is inside. The default
    // sleeps until it is killed.
    PodProcess(const TestCgroups& cgroups, const std::string& cgroup, const Body& body = nullptr);
    PodProcess(PodProcess&& other) noexcept;
    PodProcess& operator=(PodProcess&&) = delete;
    PodProcess(const PodProcess&) = delete;
    PodProcess& operator=(const PodProcess&) = delete;
    ~PodProcess();  // ends it

    [[nodiscard]] pid_t pid() const { return pid_; }
    void say(char letter) const;
    // None if it died or says nothing in time.
    [[nodiscard]] std::optional<char> hear(Duration within = patience) const;
    // The status of waitpid(2), once it has ended.
    std::optional<int> wait(Duration within = patience);
    [[nodiscard]] bool running();
    [[nodiscard]] bool killed_by(int signal_number);  // waits for the end

private:
    pid_t pid_ = 0;
    sys::Fd line_;
    sys::Fd handle_;  // pidfd
    std::optional<int> status_;
};

// For bodies. Anonymous memory, written to, kept until the process ends. At most 512 MiB.
void touch(Bytes amount);
// Reads the file once from its beginning, at most `amount`: page cache, charged to the reader.
void read_once(const std::string& file, Bytes amount);
// Reads and maps it until its page cache counts as active, with whatever kind of LRU.
void use_often(const std::string& file, Bytes amount);

// A file of zeros, not on a tmpfs, none of it in the page cache.
class ColdFile {
public:
    explicit ColdFile(Bytes size);
    ColdFile(const ColdFile&) = delete;
    ColdFile& operator=(const ColdFile&) = delete;
    ~ColdFile();
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace evictd::kernel_test

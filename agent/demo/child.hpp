// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A child process that cannot outlive its owner: held by pidfd, talked to by pipes, killed and reaped at the latest by
// the destructor.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "evictd/model/result.hpp"
#include "sys/fd.hpp"

namespace evictd::demo {

class Child {
public:
    // `program` with these arguments, the first of which is its name. Its stdin and stdout are pipes; its stderr is
    // `error_output`. It gets `death_signal` when we die, for whatever reason.
    static Result<Child> start(const std::string& program, std::vector<std::string> arguments, int error_output,
                               int death_signal);
    Child(Child&& other) noexcept;
    Child& operator=(Child&&) = delete;
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child();

    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] int pidfd() const { return pidfd_.get(); }  // readable once it has ended
    [[nodiscard]] int output() const { return output_.get(); }
    void begin() const;  // one byte on its stdin

    // Its wait status once it has ended, zombie or reaped.
    [[nodiscard]] std::optional<int> ended();
    // Sends `signal_number`, waits that long for its end, then SIGKILL.
    void end(int signal_number, int patience_ms);

private:
    Child(pid_t pid, sys::Fd pidfd, sys::Fd input, sys::Fd output)
        : pid_(pid), pidfd_(std::move(pidfd)), input_(std::move(input)), output_(std::move(output)) {}

    pid_t pid_ = -1;
    sys::Fd pidfd_;
    sys::Fd input_;   // its stdin
    sys::Fd output_;  // its stdout, non-blocking
    std::optional<int> status_;
};

// "killed by signal 9", "exit status 1".
[[nodiscard]] std::string describe_end(int wait_status);

}  // namespace evictd::demo

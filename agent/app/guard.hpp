// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A process that outlives the agent for a moment: if the agent dies with pods frozen or limited, it puts that back, and
// ends. It does nothing else.
#pragma once

#include <string>

#include <sys/types.h>

#include "evictd/model/config.hpp"
#include "evictd/model/result.hpp"
#include "reconcile/put_back.hpp"
#include "sys/fd.hpp"

namespace evictd::app {

class Guard {
public:
    // Whether anything could be left behind: a reclaim leaves nothing.
    [[nodiscard]] static bool is_needed(const Config& config);
    // Forks: to be called before there are threads. `rungs_path` is what the agent remembers in.
    static Result<Guard> post(const std::string& rungs_path);
    Guard(Guard&&) noexcept = default;
    Guard& operator=(Guard&& other) noexcept;
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard();  // tells it that the agent ends, and waits for it

private:
    Guard(sys::Fd alive, pid_t pid) : alive_(std::move(alive)), pid_(pid) {}
    void end();

    sys::Fd alive_;  // the only writing end of a pipe: it closes with the agent, however that ends
    pid_t pid_ = 0;
};

// Puts back the limits and freezes of an agent that is no more.
[[nodiscard]] reconcile::PutBack undo_rungs(const std::string& rungs_path);

}  // namespace evictd::app

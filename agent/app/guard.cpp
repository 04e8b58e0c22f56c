// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/guard.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/rights.hpp"
#include "kernel/hierarchies.hpp"
#include "kernel/pod_controls.hpp"
#include "reconcile/held_rungs.hpp"
#include "reconcile/ledger_file.hpp"
#include "sys/held_signals.hpp"

namespace evictd::app {
namespace {

// What ends the agent by signal may be sent to its whole process group: the guard must see the agent end first. What
// the agent holds back (sys/held_signals.hpp), its child does too; it reads none of it.
[[noreturn]] void stand_guard(const sys::Fd& alive, const std::string& rungs_path) {
    (void)setsid();
    sys::hold_signals();
    (void)prctl(PR_SET_NAME, "evictd-guard");
    (void)keep_needed_rights();
    char byte = 0;
    while (::read(alive.get(), &byte, 1) < 0 && errno == EINTR) {}
    (void)undo_rungs(rungs_path);
    _exit(0);
}

}  // namespace

reconcile::PutBack undo_rungs(const std::string& rungs_path) {
    const auto is_absent = [](const std::string& path) {
        const auto text = reconcile::read_ledger(path);
        return text && !*text;
    };
    if (is_absent(rungs_path) && is_absent(reconcile::victims_path(rungs_path))) {
        return {};
    }
    auto hierarchies = kernel::find_hierarchies();
    if (!hierarchies) {
        return {.done = {}, .left = {}, .failed = {hierarchies.error()}};
    }
    return reconcile::put_back_with_victims(kernel::PodControls(std::move(*hierarchies)), rungs_path);
}

// Where the freezer is v1's, a victim that escapes the first strike is frozen for a moment.
bool Guard::is_needed(const Config& config) {
    if (config.agent.dry_run) {
        return false;
    }
    const auto hierarchies = kernel::find_hierarchies();
    const bool freezes_victims = hierarchies && !hierarchies->v2 && !hierarchies->freezer.empty();
    return freezes_victims || config.eviction.ladder.squeeze || config.eviction.ladder.freeze;
}

Result<Guard> Guard::post(const std::string& rungs_path) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        return sys::fail_errno("guard", errno);
    }
    sys::Fd reading(ends[0]);
    sys::Fd writing(ends[1]);
    const pid_t pid = fork();
    if (pid < 0) {
        return sys::fail_errno("guard", errno);
    }
    if (pid == 0) {
        writing.reset();
        stand_guard(reading, rungs_path);
    }
    return Guard(std::move(writing), pid);
}

Guard& Guard::operator=(Guard&& other) noexcept {
    end();
    alive_ = std::move(other.alive_);
    pid_ = std::exchange(other.pid_, 0);
    return *this;
}

Guard::~Guard() { end(); }

void Guard::end() {
    if (!alive_) {  // moved from
        return;
    }
    alive_.reset();
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
}

}  // namespace evictd::app

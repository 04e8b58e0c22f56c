// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/realtime.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernel/load_memory.hpp"
#include "sys/fd.hpp"
#include "sys/program_code.hpp"

namespace evictd::app {

void refuse_huge_pages() { (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }  // since 3.15; needs no right

std::string become_realtime(int priority) {
    std::string missing;
    const auto note = [&](const char* what) {
        missing += (missing.empty() ? "" : "; ") + std::string(what) + ": " + std::strerror(errno);
    };
    kernel::release_load_memory();  // before memory is locked
    // On fault: what is never touched (most of the libraries) takes no memory.
    if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) {
        note("memory is not locked");
    } else if (const int failed = sys::populate_code(); failed != 0) {
        errno = failed;
        note("the program's code is read from disk when it first runs");
    }
    if (priority > 0) {
        sched_param parameters{};
        parameters.sched_priority = priority;
        if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters) != 0) {
            note("no real-time priority");
        }
    }
    return missing;
}

int urgency_below(int priority) { return priority == 0 ? 0 : std::max(1, priority - 1); }

namespace {

// What the signal handler knows.
std::atomic<pid_t> guarded = 0;
std::atomic<bool> priority_lost = false;
static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

// SIGXCPU, wherever the thread is: only system calls.
void give_priority_up(int /*number*/) {
    const int kept = errno;
    const sched_param none{};
    (void)sched_setscheduler(guarded, SCHED_OTHER | SCHED_RESET_ON_FORK, &none);
    priority_lost = true;
    errno = kept;
}

Status set_limit(rlim_t soft, rlim_t hard) {
    const rlimit wanted{.rlim_cur = soft, .rlim_max = hard};
    if (setrlimit(RLIMIT_RTTIME, &wanted) != 0) {
        return sys::fail_errno("RLIMIT_RTTIME", errno);
    }
    return {};
}

rlim_t microseconds(std::chrono::microseconds time) { return static_cast<rlim_t>(time.count()); }

}  // namespace

// The signal is taken by a handler and not by the loop, which is what may hang. The kernel sends it to the whole
// program; every lane has it blocked, so it comes to this thread.
Result<std::unique_ptr<RealtimeGuard>> RealtimeGuard::make(int priority, RealtimeLimit limit) {
    std::unique_ptr<RealtimeGuard> made(new RealtimeGuard(priority, limit));
    guarded = ::gettid();
    priority_lost = false;
    struct sigaction action {};
    action.sa_handler = give_priority_up;
    action.sa_flags = SA_RESTART;
    sigset_t unblocked{};
    sigemptyset(&unblocked);
    sigaddset(&unblocked, SIGXCPU);
    if (sigaction(SIGXCPU, &action, nullptr) != 0 || pthread_sigmask(SIG_UNBLOCK, &unblocked, nullptr) != 0) {
        return sys::fail_errno("SIGXCPU", errno);
    }
    if (auto set = set_limit(microseconds(limit.soft), microseconds(limit.hard)); !set) {
        return tl::unexpected(set.error());
    }
    return made;
}

RealtimeGuard::~RealtimeGuard() { (void)set_limit(RLIM_INFINITY, RLIM_INFINITY); }

bool RealtimeGuard::lost() const { return priority_lost; }

// The kernel moved the limit by a second with each signal: it is put back, too.
void RealtimeGuard::restore() const {
    (void)set_limit(microseconds(limit_.soft), microseconds(limit_.hard));
    sched_param parameters{};
    parameters.sched_priority = priority_;
    (void)sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters);
    priority_lost = false;
}

}  // namespace evictd::app

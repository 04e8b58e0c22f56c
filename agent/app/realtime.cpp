// SPDX-License-Identifier: Apache-2.0
#include "app/realtime.hpp"

#include <cerrno>
#include <cstring>

#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

namespace evictd::app {

void refuse_huge_pages() { (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }  // since 3.15; needs no right

std::string become_realtime(int priority) {
    std::string missing;
    const auto note = [&](const char* what) {
        missing += (missing.empty() ? "" : "; ") + std::string(what) + ": " + std::strerror(errno);
    };
    (void)malloc_trim(0);  // loading BPF took megabytes that are free again: give them back before locking
    // On fault: what is never touched (most of the libraries) takes no memory.
    if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) {
        note("memory is not locked");
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

}  // namespace evictd::app

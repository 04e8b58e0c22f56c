// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/pod_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

namespace evictd::demo {
namespace {

constexpr std::size_t page = 4096;

// The only thing a signal handler may touch.
volatile std::sig_atomic_t terminated = 0;  // NOLINT(*-avoid-non-const-global-variables)

void on_terminate(int /*signal*/) { terminated = 1; }

}  // namespace

void catch_terminate() {
    struct sigaction action {};
    action.sa_handler = on_terminate;
    (void)::sigaction(SIGTERM, &action, nullptr);
}

bool asked_to_end() { return terminated != 0; }

void say(char word) { (void)!::write(STDOUT_FILENO, &word, 1); }

bool ended_within(int milliseconds) {
    if (asked_to_end()) {
        return true;
    }
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&input, 1, milliseconds);
    return asked_to_end() || (ready > 0 && (input.revents & POLLHUP) != 0);
}

bool wait_for(char order) {
    char word = 0;
    while (true) {
        const ssize_t got = ::read(STDIN_FILENO, &word, 1);
        if (got < 0 && errno == EINTR && !asked_to_end()) {
            continue;
        }
        return got == 1 && word == order;
    }
}

Hoard::Hoard(std::size_t most) : most_(most) {
    void* at = ::mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    start_ = at == MAP_FAILED ? nullptr : static_cast<volatile char*>(at);
}

void Hoard::grow_to(std::size_t size) {
    const std::size_t goal = start_ == nullptr ? 0 : std::min(size, most_);
    for (; taken_ < goal && !asked_to_end(); taken_ += page) {
        start_[taken_] = 1;
    }
}

void Hoard::shrink_to(std::size_t size) {
    if (size < taken_) {
        (void)::madvise(const_cast<char*>(start_) + size, taken_ - size, MADV_DONTNEED);
        taken_ = size;
    }
}

}  // namespace evictd::demo

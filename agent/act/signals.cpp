// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "act/signals.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <span>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace evictd::act {
namespace {

// Cgroups that a walk visits whatever its time while it has signalled no process: a thread that waits for its CPU
// meanwhile would not reach the first process otherwise. 8 us each.
constexpr int always_visited = 16;

// Descriptors that are kept to be closed later.
constexpr std::size_t most_to_close = 256;

int pidfd_open(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0U)); }
int pidfd_send_signal(int pidfd, int signal_number) {
    return static_cast<int>(syscall(SYS_pidfd_send_signal, pidfd, signal_number, nullptr, 0U));
}

bool is_short_of_descriptors(int error_number) { return error_number == EMFILE || error_number == ENFILE; }

// One batch of one strike.
class Batch {
public:
    Batch(const Strike& strike, const sys::Clock& clock, Struck& struck)
        : strike_(strike), clock_(clock), struck_(struck) {}

    void signal(const port::ProcessBatch& batch);

private:
    [[nodiscard]] std::size_t hold(std::span<const pid_t> pids);
    [[nodiscard]] Result<std::vector<pid_t>> list_again(const port::ProcessBatch& batch, std::span<const pid_t> left,
                                                        std::size_t& done);
    void drop_strangers(const std::vector<pid_t>& still);
    void signal_held();
    void put_away();
    void refuse(Error error) {
        if (!struck_.trouble) {
            struck_.trouble = std::move(error);
        }
    }

    const Strike& strike_;
    const sys::Clock& clock_;
    Struck& struck_;
    std::vector<HeldProcess> held_;
    int shortage_ = 0;  // errno
};

// Returns how many of `pids` are done with: held, ended or refused. Less than all where descriptors are short.
std::size_t Batch::hold(std::span<const pid_t> pids) {
    std::size_t done = 0;
    for (; done < pids.size(); done++) {
        if (pids[done] == getpid()) {
            continue;
        }
        if (sys::Fd pidfd(pidfd_open(pids[done])); pidfd) {
            held_.push_back({pids[done], std::move(pidfd)});
        } else if (is_short_of_descriptors(errno) && !struck_.to_close.empty()) {
            struck_.to_close.clear();
            done--;  // again
        } else if (is_short_of_descriptors(errno)) {
            shortage_ = errno;
            return done;
        } else if (errno == EINVAL || errno == ENOENT) {
            struck_.moved = true;  // the number is a thread's now
        } else if (errno != ESRCH) {
            refuse(sys::fail_errno("pidfd_open", errno).value());
        }
    }
    return done;
}

// Listing takes a descriptor. Where the pidfds took the last one, the last pidfd is given back, and `done` then ends
// before its process.
Result<std::vector<pid_t>> Batch::list_again(const port::ProcessBatch& batch, std::span<const pid_t> left,
                                             std::size_t& done) {
    auto still = batch.list_again();
    if (still || still.error().kind != ErrorKind::exhausted) {
        return still;
    }
    if (!struck_.to_close.empty()) {
        struck_.to_close.clear();
    } else if (held_.size() > 1) {
        const auto last = std::find(left.begin(), left.end(), held_.back().pid);
        done = std::max<std::size_t>(1, static_cast<std::size_t>(last - left.begin()));  // a pid may be listed twice
        held_.pop_back();
    }
    return batch.list_again();
}

void Batch::drop_strangers(const std::vector<pid_t>& still) {
    std::erase_if(held_, [&](const HeldProcess& process) {
        const bool gone = !std::binary_search(still.begin(), still.end(), process.pid);
        struck_.moved = struck_.moved || (gone && !has_ended(process));
        return gone;
    });
}

// A process that the signal did not reach is not held any more: nothing else is done to it.
void Batch::signal_held() {
    const auto before = struck_.signalled.size();
    std::erase_if(held_, [&](const HeldProcess& process) {
        const int error = pidfd_send_signal(process.pidfd.get(), strike_.signal_number) == 0 ? 0 : errno;
        if (error == 0) {
            struck_.signalled.push_back(process.pid);
        } else if (error != ESRCH) {
            refuse(
                sys::fail_errno("signal " + std::to_string(strike_.signal_number), error, "run as root with CAP_KILL")
                    .value());
        }
        return error != 0;
    });
    if (struck_.signalled.size() > before) struck_.last_signal = clock_.monotonic();
}

void Batch::put_away() {
    if (!strike_.close_at_once && struck_.to_close.size() + held_.size() <= most_to_close) {
        std::move(held_.begin(), held_.end(), std::back_inserter(struck_.to_close));
    }
    held_.clear();
}

void Batch::signal(const port::ProcessBatch& batch) {
    for (const pid_t pid : batch.pids) {
        if (pid != getpid()) {
            struck_.listed.push_back(pid);
        }
    }
    for (auto left = batch.pids; !left.empty();) {
        auto done = hold(left);
        if (done == 0) {
            refuse(sys::fail_errno("pidfd_open", shortage_, "raise LimitNOFILE").value());
            return;
        }
        if (held_.empty()) {
            left = left.subspan(done);
            continue;
        }
        const auto still = list_again(batch, left, done);
        if (!still) {
            held_.clear();
            // The pod's own cgroup gone is for the walk to say.
            struck_.moved = true;
            if (still.error().kind != ErrorKind::vanished) {
                refuse(still.error());
            }
            return;
        }
        left = left.subspan(done);
        drop_strangers(*still);
        if (strike_.before_batch) {
            strike_.before_batch(held_);
        }
        signal_held();
        if (strike_.after_batch) {
            strike_.after_batch(held_);
        }
        put_away();
    }
}

}  // namespace

bool has_ended(const HeldProcess& process) {
    pollfd poll_for{.fd = process.pidfd.get(), .events = POLLIN, .revents = 0};
    return ::poll(&poll_for, 1, 0) == 1;
}

HeldProcess hold(pid_t pid) { return {pid, sys::Fd(pidfd_open(pid))}; }

Struck strike(const port::PodCgroup& cgroup, const Strike& strike, const sys::Clock& clock) {
    Struck struck;
    Batch batch(strike, clock, struck);
    int visited = 0;
    auto walked = cgroup.each_batch(strike.listing, [&](const port::ProcessBatch& one) {
        const bool may_stop = !struck.signalled.empty() || ++visited > always_visited;
        const bool too_many = strike.most_listed && one.pids.size() > *strike.most_listed;
        if (too_many || (may_stop && clock.monotonic() >= strike.until)) {
            struck.cut = true;
            return false;
        }
        batch.signal(one);
        return true;
    });
    if (!walked && !struck.trouble) {
        struck.trouble = std::move(walked.error());
    }
    return struck;
}

// Best effort: the process's own exit frees it as well.
bool release_memory(const HeldProcess& process) {
#ifdef SYS_process_mrelease
    return syscall(SYS_process_mrelease, process.pidfd.get(), 0U) == 0 || errno != EINVAL;
#else
    (void)process;
    return true;
#endif
}

}  // namespace evictd::act

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whether every thread of this program still does its work: each loop is asked, and has to answer between two of its
// tasks. It only tells; app/watchdog and the HTTP server decide what follows from it.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "evictd/model/result.hpp"
#include "sys/clock.hpp"
#include "sys/loop.hpp"

namespace evictd::sys {

// What a loop is for. It says how long one task may last, and whether a restart would help when it lasts longer.
enum class Duty : std::uint8_t {
    main,   // decides and kills
    vital,  // finishes kills and puts back what was changed: no task waits for a disk
    // Waits for disks and for reclaim: as long as the kernel holds the thread (state D), a restart could not even end
    // the old process, and its successor would wait for the same disk, with the node unwatched.
    may_block,
    // As may_block, and its tasks own all that they use (by shared_ptr, never by `this` or a reference) and put nothing
    // back: a thread that hangs when the program ends is left behind (sys/lane).
    expendable,
};

[[nodiscard]] constexpr bool may_block(Duty duty) { return duty == Duty::may_block || duty == Duty::expendable; }

// How long a loop may owe an answer. Each is far above what was ever measured (a turn of the main loop with 10,000
// pods: some 100 ms) and, with the unit's WatchdogSec=30 on top, near the kubelet's 30 s patience: half of it would
// restart agents on nodes that are only slow, double leaves a node unwatched for over a minute. A reclaim or a disk may
// take minutes and harms no kill meanwhile.
constexpr Duration longest_silence(Duty duty) {
    switch (duty) {
        case Duty::main:
            return std::chrono::seconds(20);
        case Duty::vital:
            return std::chrono::seconds(60);
        case Duty::may_block:
        case Duty::expendable:
            break;
    }
    return std::chrono::minutes(15);
}

struct LifeSign {
    std::string name;
    Duration silent{};       // since it was asked; zero: it answered
    bool in_kernel = false;  // its thread waits uninterruptibly
    bool dead = false;       // it owes an answer for too long, and a restart may help; or it failed
};

class ProofOfLife {
public:
    // Takes the loop off the list again. Destroy it in the loop's thread or after that was joined, before the Loop.
    class Watched {
    public:
        Watched(Watched&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)), id_(other.id_) {}
        Watched& operator=(Watched&&) = delete;
        Watched(const Watched&) = delete;
        Watched& operator=(const Watched&) = delete;
        ~Watched();

    private:
        friend class ProofOfLife;
        Watched(ProofOfLife* owner, std::uint64_t id) : owner_(owner), id_(id) {}
        ProofOfLife* owner_;
        std::uint64_t id_;
    };

    // Lanes are made in many places, and none of them is to be forgotten: hence one for the program.
    static ProofOfLife& of_this_program();
    explicit ProofOfLife(const Clock& clock) : clock_(clock) {}

    // All are thread-safe.
    // From the thread that runs the loop.
    [[nodiscard]] Watched watch(std::string name, Loop& loop, Duty duty);
    // Asks the main loop and each that has something to do, and each other one once a minute; says what the earlier
    // questions brought. Ask regularly: a loop that hangs is found at the first check that comes later than its bound
    // after another.
    [[nodiscard]] std::vector<LifeSign> check();
    // A loop ended because something threw. The first is kept, and on_failure()'s `call` is called in the failing
    // thread.
    void fail(const std::string& name, const Error& error);
    [[nodiscard]] std::optional<Error> failure() const;
    void on_failure(std::function<void()> call);  // it must not call this object; empty: none any more

private:
    struct Entry {
        std::uint64_t id = 0;
        std::string name;
        Loop& loop;
        Duty duty;
        pid_t thread = 0;
        std::optional<MonotonicTime> asked;
    };
    [[nodiscard]] LifeSign ask(Entry& entry, MonotonicTime now) const;

    const Clock& clock_;
    mutable std::mutex mutex_;  // all below are under it
    std::list<Entry> entries_;
    std::uint64_t next_id_ = 1;
    std::optional<Error> failure_;
    std::function<void()> on_failure_;
};

// Those that are dead, for people: "evictd-scores has not answered for 75 s; ..."; empty: all are alive.
[[nodiscard]] std::string dead_ones(const std::vector<LifeSign>& signs);

}  // namespace evictd::sys

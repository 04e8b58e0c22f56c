// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The threads that read directories: few, at a low priority, and replaced while one hangs in the kernel. They know
// nothing of what they read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sys/clock.hpp"
#include "sys/lane.hpp"

namespace evictd::disk {

// Between a job and its owner. All are thread-safe.
class Pulse {
public:
    void beat() { ++beats_; }
    [[nodiscard]] std::uint64_t beats() const { return beats_; }
    // The job is to end at its next beat.
    void cancel() { cancelled_ = true; }
    [[nodiscard]] bool is_cancelled() const { return cancelled_; }
    [[nodiscard]] bool is_done() const { return done_; }
    // It has not beaten for longer than a job that works does; it may still end.
    [[nodiscard]] bool hangs() const { return hangs_; }

private:
    friend class Workers;
    std::atomic<std::uint64_t> beats_ = 0;
    std::atomic<bool> cancelled_ = false;
    std::atomic<bool> done_ = false;
    std::atomic<bool> hangs_ = false;
};
using PulsePtr = std::shared_ptr<Pulse>;

// From one thread.
class Workers {
public:
    struct Options {
        // Also where the node has fewer CPUs: a walk of what is not in the page cache waits for the disk most of the
        // time, and each thread has one read in flight. What all walks may use on average does not depend on it.
        std::size_t threads = 4;
        // Without a beat: far above what 64 files take on a disk that works. Half of it would take a busy disk for a
        // dead one, twice as much holds up the other trees for longer.
        Duration patience = std::chrono::seconds(30);
        // A job that takes longer keeps its thread until it ends, and another takes what waits behind it. Far above
        // what a tree of a million files takes.
        Duration longest_turn = std::chrono::seconds(60);
        // Threads that hang, each replaced by another. Beyond that the next is replaced by none.
        std::size_t most_replaced = 4;
        // The same of those that take longer. Theirs are not places of those that hang, which may never end.
        std::size_t most_long = 2;
    };

    Workers(const sys::Clock& clock, Options options) : clock_(clock), options_(options) {}
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;
    // Cancels all. Waits for a second for each thread that hangs, and leaves it behind.
    ~Workers();

    // It owns all that it uses, and beats at least as often as it reads 64 files. What it returns is called in its
    // thread, which is free by then: to deliver what was found.
    using Work = std::function<std::function<void()>(Pulse&)>;
    // Null: no thread is free, or none can be made.
    [[nodiscard]] PulsePtr start(Work work);
    [[nodiscard]] bool has_free() const;
    // Finds threads that hang, and gets rid of those that do not any more. Call it every few seconds while a job runs.
    void check();
    [[nodiscard]] std::size_t hanging() const;
    // All of them hang: nothing is done any more until one comes back.
    [[nodiscard]] bool is_stuck() const { return hanging() >= options_.threads + replaced(); }

private:
    struct Worker {
        std::unique_ptr<sys::Lane> lane;
        PulsePtr pulse;  // of its last job; null: it had none
        std::uint64_t beats = 0;
        MonotonicTime beaten;  // when `beats` changed
        MonotonicTime started;
        bool takes_long = false;

        [[nodiscard]] bool is_busy() const { return pulse && !pulse->is_done(); }
        [[nodiscard]] bool hangs() const { return is_busy() && pulse->hangs(); }
        [[nodiscard]] bool is_long() const { return is_busy() && !pulse->hangs() && takes_long; }
    };
    [[nodiscard]] Worker* free_one();
    [[nodiscard]] std::size_t replaced() const;

    const sys::Clock& clock_;
    Options options_;
    std::vector<Worker> workers_;
    bool was_refused_ = false;  // a thread; it is logged once
};

}  // namespace evictd::disk

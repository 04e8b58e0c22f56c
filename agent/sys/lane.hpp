// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A named worker thread with its own loop and a bounded queue, for what may be slow: disks, networks, directories.
// Nothing that the kill path waits for runs in one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sys/loop.hpp"
#include "sys/proof_of_life.hpp"

namespace evictd::sys {

// Its thread has all signals blocked, the normal scheduling policy even if its maker is a real-time thread (but see
// post_urgent()), and a small stack (see stack_size in lane.cpp).
class Lane {
public:
    // How long a Lane that goes away still works off what it accepted. Only what has not started by then is dropped:
    // a running function is waited for, because what it uses would go away under it; but see Duty::expendable.
    static constexpr Duration default_drain = std::chrono::seconds(2);

    // `name` shows in ps and top; the kernel keeps 15 characters of it.
    // `duty`: what it means when one of its tasks does not end (see sys/proof_of_life).
    static Result<std::unique_ptr<Lane>> make(const std::string& name, std::size_t queue_capacity = Loop::default_queue,
                                              Duration drain = default_drain, Duty duty = Duty::vital);
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;
    ~Lane();

    // A task that throws ends the program (ProofOfLife::fail()); what was accepted is still worked off when the Lane
    // goes, because that is what puts things back.
    //
    // Works off what was accepted and ends the thread, as ~Lane does. The thread of a lane with Duty::expendable that
    // does not end within its drain and a second is logged and left behind, with all that its tasks own; it starts no
    // other task. What runs in the thread of any other Lane may still use the Lane: a pointer to it that is reset is
    // null before that work is done. Not from the lane itself.
    void close();

    // Thread-safe. False if the queue is full or the lane is going away: `work` is dropped and counted.
    bool post(Loop::Callback work);
    // As post(), for what is short and must not wait behind everything else that runs on the machine: until it is done
    // the thread has SCHED_FIFO at `priority` (1 to 99), for what was posted before it too. 0, or where the kernel
    // refuses: as post().
    bool post_urgent(Loop::Callback work, int priority);
    // Thread-safe, before close(): what runs in the lane goes on with the normal policy, as does what was posted so
    // far.
    void give_way();
    // Only from functions that run in the lane: SCHED_FIFO at `priority`, or with 0 the normal policy, until it is
    // called again. Where the kernel refuses, nothing changes. No thread may work for longer than RealtimeLimit without
    // waiting.
    void be_urgent(int priority);
    [[nodiscard]] std::uint64_t dropped() const;

    // Whether a thread was left behind by any Lane of this program. It may run on at any time, so the program has to
    // end without destroying what is global (_exit).
    [[nodiscard]] static bool any_left_behind();

    // To add sources; only from functions that run in the lane. Keep those sources where they outlive the Lane, so that
    // its thread is gone when they are destroyed.
    [[nodiscard]] Loop& loop();
    // Only from functions that run in the lane: `ring` is called there at `due`, or not at all without one. `timer` is
    // made when it is first armed, and keeps that `ring`. False: it cannot be made, which is logged.
    bool arm(Timer& timer, std::optional<MonotonicTime> due, Loop::Callback ring);

private:
    struct Core;
    explicit Lane(std::shared_ptr<Core> core);
    Status start();

    std::shared_ptr<Core> core_;
    bool started_ = false;
};

}  // namespace evictd::sys

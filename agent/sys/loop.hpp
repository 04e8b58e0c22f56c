// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One thread's event loop: file descriptors, timers, signals and functions posted by other threads. The only user of
// sd-event. It does not start threads; sys/lane does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"

struct sd_event_source;

namespace evictd::sys {

// Among sources that are ready together, the lower runs first; each turn of the loop runs one.
enum class Priority : std::int16_t { urgent = -100, normal = 0, late = 100 };

// A registration. Its destructor removes it; a callback may destroy its own Source. May outlive the Loop. Everything
// about it belongs to the loop's thread (or to anyone once that thread has been joined).
class Source {
public:
    Source() = default;
    explicit operator bool() const { return source_ != nullptr; }
    void reset() { source_.reset(); }

private:
    friend class Loop;
    friend class Timer;
    struct Remove {
        void operator()(sd_event_source* source) const;
    };
    explicit Source(sd_event_source* source) : source_(source) {}
    std::unique_ptr<sd_event_source, Remove> source_;
};

// One shot on CLOCK_MONOTONIC, made disarmed. Never early; late by at most a microsecond of the loop's own making.
class Timer {
public:
    Timer() = default;
    void arm(MonotonicTime at);  // again replaces; a time in the past fires at the loop's next turn
    void arm_in(Duration delay);
    void disarm();
    explicit operator bool() const { return static_cast<bool>(source_); }

private:
    friend class Loop;
    explicit Timer(Source source) : source_(std::move(source)) {}
    Source source_;
};

// What a callback throws is a fault of the program: it is logged, kept until the C library below is left, and ends the
// loop. Errors that are expected are values and never get here.
class Loop {
public:
    using Callback = std::function<void()>;
    struct Core;  // loop.cpp's
    // Posts waiting at most. The agent's threads exchange a handful per tick; 1,024 is room for a second of stall at
    // 1 kHz. Fewer would drop in bursts, more would only hide that the thread is stuck.
    static constexpr std::size_t default_queue = 1024;

    static Result<Loop> make(std::size_t queue_capacity = default_queue);
    Loop(Loop&&) noexcept;
    Loop& operator=(Loop&&) noexcept;
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    ~Loop();

    // The fd stays the caller's and must stay open as long as the Source. Level-triggered: the callback has to read.
    Result<Source> add_fd(int fd, Callback on_readable, Priority priority = Priority::normal);
    // EPOLLPRI, for PSI triggers and cgroup event files. The callback has to read the file; when that says `vanished`
    // it has to drop the Source, or it is called for ever.
    Result<Source> add_priority_fd(int fd, Callback on_event, Priority priority = Priority::normal);
    // While it lives the callback runs whenever there is room: drop the Source when nothing is left to write. sd-event
    // takes a descriptor once, so who also reads it gives a duplicate here.
    Result<Source> add_writable_fd(int fd, Callback on_writable, Priority priority = Priority::normal);
    // Takes no descriptor: there are timers where no file can be opened.
    Result<Timer> add_timer(Callback on_elapsed, Priority priority = Priority::normal);
    // Blocks the signal in the calling thread: call it before other threads are started, which inherit that.
    Result<Source> add_signal(int signal_number, Callback on_signal, Priority priority = Priority::normal);

    // Thread-safe. Runs `work` in the loop's thread, in order. False if the queue is full: `work` is dropped.
    bool post(Callback work);

    // Until stop(), also an earlier one, or until a callback throws, which is the error. What is still posted then is
    // not run by it.
    Status run();
    // One turn: waits at most `timeout` for something to do. The error is as run()'s.
    Status run_once(Duration timeout);
    // Thread-safe, final.
    void stop();
    // In the loop's thread: takes the oldest posted function and runs it, whatever it throws. False if there is none.
    bool run_one_posted();

    // Proof of life, all thread-safe. ask_alive() wakes the loop up for nothing; a loop that is alive then sets
    // alive_at(), as it does at the end of each callback. No memory and no place in the queue is needed for that.
    void ask_alive();
    [[nodiscard]] MonotonicTime alive_at() const;
    [[nodiscard]] bool rests() const;  // no callback runs, and none is posted

private:
    explicit Loop(std::unique_ptr<Core> core);
    Result<Source> add_io(int fd, std::uint32_t events, Callback callback, Priority priority);
    std::unique_ptr<Core> core_;
};

}  // namespace evictd::sys

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// sd-event behind Loop. A callback is owned by its sd_event_source through the destroy callback, so a source that is
// removed from inside its own callback frees it only after the callback has returned.
#include "sys/loop.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "sys/clock.hpp"
#include "sys/fd.hpp"
#include "sys/log.hpp"
#include "sys/pi_mutex.hpp"

namespace evictd::sys {
namespace {

// sd-event's default is 250 ms: it would merge our 1 ms timers with other wake-ups. 0 means that default, so 1 us.
constexpr std::uint64_t timer_accuracy_us = 1;

// What each source of a loop is called with. `core` outlives the callback's run: a Source is used by its loop only.
struct Entry {
    Loop::Core& core;
    Loop::Callback callback;
};

void call_user_data(void* user_data) noexcept;
void delete_user_data(void* user_data) { delete static_cast<Entry*>(user_data); }

int on_io(sd_event_source* /*source*/, int /*fd*/, std::uint32_t /*events*/, void* user_data) {
    call_user_data(user_data);
    return 0;
}
int on_time(sd_event_source* /*source*/, std::uint64_t /*usec*/, void* user_data) {
    call_user_data(user_data);
    return 0;
}
int on_signal_info(sd_event_source* /*source*/, const signalfd_siginfo* /*info*/, void* user_data) {
    call_user_data(user_data);
    return 0;
}

// Hands the callback over to the source. `negative` is what sd-event's add function returned.
Status own(sd_event_source* source, int negative, std::unique_ptr<Entry> callback, Priority priority,
           const char* what) {
    if (negative < 0) return fail_errno(what, -negative);
    sd_event_source_set_destroy_callback(source, delete_user_data);
    callback.release();  // NOLINT(bugprone-unused-return-value): the source owns it now
    sd_event_source_set_priority(source, static_cast<std::int64_t>(priority));
    return {};
}

}  // namespace

struct Loop::Core {
    sd_event* event = nullptr;
    Fd wake;  // eventfd: something was posted, or stop() was called
    Source wake_source;
    Timer first_timer;  // never armed: sd-event has one descriptor for all timers of a loop, taken with the first
    std::atomic<bool> stopping = false;
    PiMutex mutex;
    std::vector<Callback> ring;  // under mutex, as are the next two; made full size, so nothing is allocated under it
    std::size_t first = 0;
    std::size_t count = 0;
    std::optional<Error> thrown;  // the loop's thread's: by the first callback that threw
    std::atomic<MonotonicTime> alive_at = SystemClock().monotonic();
    std::atomic<bool> is_busy = false;  // with a callback

    Core() = default;
    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;
    ~Core() {
        wake_source.reset();
        first_timer = Timer();
        sd_event_unref(event);
    }

    void wake_up() const {
        const std::uint64_t one = 1;
        // EAGAIN would mean that 2^64 wake-ups are pending: then the loop is awake anyway.
        [[maybe_unused]] const ssize_t written = ::write(wake.get(), &one, sizeof(one));
    }

    void call(const Callback& callback) noexcept {
        const auto note = [this](const std::string& what) {
            log::error("event loop: a callback failed: " + what);
            if (!thrown) thrown = Error{ErrorKind::failed, "event loop", "a callback failed: " + what, ""};
        };
        const bool was_busy = is_busy.exchange(true);  // on_wake() calls what is posted, and destroys it after that
        try {
            callback();
        } catch (const std::exception& exception) {
            note(exception.what());
        } catch (...) {
            note("unknown exception");
        }
        alive_at = SystemClock().monotonic();
        is_busy = was_busy;
    }

    Status turn(std::uint64_t timeout_us) {
        const int ran = sd_event_run(event, timeout_us);
        if (ran < 0) return fail_errno("event loop", -ran);
        if (thrown) return tl::unexpected(*std::exchange(thrown, std::nullopt));
        return {};
    }

    bool push(Callback&& work) {
        const std::scoped_lock lock(mutex);
        if (count == ring.size()) return false;
        ring[(first + count++) % ring.size()] = std::move(work);
        return true;
    }

    struct Popped {
        Callback work;  // empty: there is none
        bool are_more = false;
    };
    Popped pop() {
        const std::scoped_lock lock(mutex);
        if (count == 0) return {};
        Callback work = std::exchange(ring[first], nullptr);
        first = (first + 1) % ring.size();
        return {std::move(work), --count > 0};
    }

    bool rests() {
        const std::scoped_lock lock(mutex);
        return count == 0 && !is_busy;
    }

    // One function a turn, so that timers and descriptors are not held up by a long queue.
    void on_wake() {
        std::uint64_t wake_ups = 0;
        [[maybe_unused]] const ssize_t got = ::read(wake.get(), &wake_ups, sizeof(wake_ups));
        alive_at = SystemClock().monotonic();
        if (stopping) return;
        const auto [work, are_more] = pop();
        if (work) call(work);
        if (are_more) wake_up();  // what was posted since has done so itself
    }
};

namespace {

void call_user_data(void* user_data) noexcept {
    auto& entry = *static_cast<Entry*>(user_data);
    entry.core.call(entry.callback);
}

}  // namespace

void Source::Remove::operator()(sd_event_source* source) const { sd_event_source_disable_unref(source); }

void Timer::arm(MonotonicTime at) {
    const auto up = std::chrono::ceil<std::chrono::microseconds>(at.time_since_epoch()).count();
    sd_event_source_set_time(source_.source_.get(), up > 0 ? static_cast<std::uint64_t>(up) : 0);
    sd_event_source_set_enabled(source_.source_.get(), SD_EVENT_ONESHOT);
}

void Timer::arm_in(Duration delay) {
    const auto up = std::chrono::ceil<std::chrono::microseconds>(delay).count();
    sd_event_source_set_time_relative(source_.source_.get(), up > 0 ? static_cast<std::uint64_t>(up) : 0);
    sd_event_source_set_enabled(source_.source_.get(), SD_EVENT_ONESHOT);
}

void Timer::disarm() { sd_event_source_set_enabled(source_.source_.get(), SD_EVENT_OFF); }

Loop::Loop(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Loop::Loop(Loop&&) noexcept = default;
Loop& Loop::operator=(Loop&&) noexcept = default;
Loop::~Loop() = default;

Result<Loop> Loop::make(std::size_t queue_capacity) {
    auto core = std::make_unique<Core>();
    if (const int made = sd_event_new(&core->event); made < 0) return fail_errno("event loop", -made);
    core->wake = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!core->wake) return fail_errno("event loop: eventfd", errno);
    core->ring.resize(queue_capacity);
    Core* raw = core.get();
    Loop loop(std::move(core));
    auto wake = loop.add_fd(raw->wake.get(), [raw] { raw->on_wake(); });
    if (!wake) return tl::unexpected(wake.error());
    raw->wake_source = std::move(*wake);
    auto timer = loop.add_timer([] {});
    if (!timer) return tl::unexpected(timer.error());
    raw->first_timer = std::move(*timer);
    return loop;
}

Result<Source> Loop::add_io(int fd, std::uint32_t events, Callback callback, Priority priority) {
    auto owned = std::make_unique<Entry>(Entry{*core_, std::move(callback)});
    sd_event_source* source = nullptr;
    const int added = sd_event_add_io(core_->event, &source, fd, events, on_io, owned.get());
    if (auto done = own(source, added, std::move(owned), priority, "event loop: file descriptor"); !done)
        return tl::unexpected(done.error());
    return Source(source);
}

Result<Source> Loop::add_fd(int fd, Callback on_readable, Priority priority) {
    return add_io(fd, EPOLLIN, std::move(on_readable), priority);
}

Result<Source> Loop::add_priority_fd(int fd, Callback on_event, Priority priority) {
    return add_io(fd, EPOLLPRI, std::move(on_event), priority);
}

Result<Source> Loop::add_writable_fd(int fd, Callback on_writable, Priority priority) {
    return add_io(fd, EPOLLOUT, std::move(on_writable), priority);
}

Result<Timer> Loop::add_timer(Callback on_elapsed, Priority priority) {
    auto owned = std::make_unique<Entry>(Entry{*core_, std::move(on_elapsed)});
    sd_event_source* source = nullptr;
    const int added =
        sd_event_add_time(core_->event, &source, CLOCK_MONOTONIC, 0, timer_accuracy_us, on_time, owned.get());
    if (auto done = own(source, added, std::move(owned), priority, "event loop: timer"); !done)
        return tl::unexpected(done.error());
    Timer timer{Source(source)};
    timer.disarm();
    return timer;
}

Result<Source> Loop::add_signal(int signal_number, Callback on_signal, Priority priority) {
    auto owned = std::make_unique<Entry>(Entry{*core_, std::move(on_signal)});
    sd_event_source* source = nullptr;
    const int added = sd_event_add_signal(core_->event, &source, signal_number | SD_EVENT_SIGNAL_PROCMASK,
                                          on_signal_info, owned.get());
    if (auto done = own(source, added, std::move(owned), priority, "event loop: signal"); !done)
        return tl::unexpected(done.error());
    return Source(source);
}

bool Loop::post(Callback work) {
    if (!core_->push(std::move(work))) return false;
    core_->wake_up();
    return true;
}

Status Loop::run() {
    while (!core_->stopping) {
        if (auto turned = core_->turn(UINT64_MAX); !turned) return turned;
    }
    return {};
}

Status Loop::run_once(Duration timeout) {
    const auto up = std::chrono::ceil<std::chrono::microseconds>(timeout).count();
    return core_->turn(up > 0 ? static_cast<std::uint64_t>(up) : 0);
}

void Loop::stop() {
    core_->stopping = true;
    core_->wake_up();
}

bool Loop::run_one_posted() {
    const auto work = core_->pop().work;
    if (work) core_->call(work);
    return static_cast<bool>(work);
}

void Loop::ask_alive() { core_->wake_up(); }
MonotonicTime Loop::alive_at() const { return core_->alive_at; }
bool Loop::rests() const { return core_->rests(); }

}  // namespace evictd::sys

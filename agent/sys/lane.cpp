// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// pthreads rather than std::thread, because of the stack size and the signal mask the thread is born with.
#include "sys/lane.hpp"

#include <csignal>
#include <future>
#include <utility>

#include <sched.h>

#include "sys/clock.hpp"
#include "sys/fd.hpp"
#include "sys/log.hpp"

namespace evictd::sys {
namespace {

// Memory is locked, so an unused stack costs real memory: the default of 8 MiB for each lane would be most of the
// agent. 512 KiB is several times what the deepest accepted manifest needs to be parsed.
constexpr std::size_t stack_size = std::size_t{512} << 10U;

// What a thread that is to be left behind may need beyond its drain, to end the task that runs: far above what a task
// needs that does not hang, and short enough for several such lanes within an orderly end (systemd's TimeoutStopSec).
constexpr Duration grace_after_drain = std::chrono::seconds(1);

std::atomic<bool> any_thread_left_behind = false;  // NOLINT(*-avoid-non-const-global-variables): of the program

// Refused: it stays as it is.
void schedule(pthread_t thread, int policy, int priority) {
    sched_param parameters{};
    parameters.sched_priority = priority;
    (void)pthread_setschedparam(thread, policy, &parameters);
}

}  // namespace

// What the thread uses. Shared with it: a thread that is left behind keeps it.
struct Lane::Core {
    Core(Loop made, std::string its_name, Duration its_drain, Duty its_duty)
        : loop(std::move(made)), name(std::move(its_name)), drain(its_drain), duty(its_duty) {}

    Loop loop;
    std::string name;
    Duration drain;
    Duty duty;
    std::atomic<bool> closing = false;
    std::atomic<bool> left_behind = false;
    std::atomic<std::uint64_t> dropped = 0;
    std::atomic<int> urgent = 0;    // posted and not done
    std::atomic<int> standing = 0;  // the priority that be_urgent() asked for
    pthread_t thread{};
    std::promise<void> ended;

    static void* enter(void* shared);
    void work();
    bool post(Loop::Callback work);
    void urgent_is_done(int priority);
    void stand() const { schedule(thread, standing > 0 ? SCHED_FIFO : SCHED_OTHER, standing); }
};

Lane::Lane(std::shared_ptr<Core> core) : core_(std::move(core)) {}

Result<std::unique_ptr<Lane>> Lane::make(const std::string& name, std::size_t queue_capacity, Duration drain,
                                         Duty duty) {
    auto loop = Loop::make(queue_capacity);
    if (!loop) return tl::unexpected(loop.error());
    std::unique_ptr<Lane> lane(new Lane(std::make_shared<Core>(std::move(*loop), name.substr(0, 15), drain, duty)));
    if (auto started = lane->start(); !started) return tl::unexpected(started.error());
    return lane;
}

Status Lane::start() {
    sigset_t all{};
    sigset_t before{};
    sigfillset(&all);
    pthread_attr_t attributes{};
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_size);
    // By the thread itself it would come too late: post_urgent() may have been called before it runs.
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
    const sched_param normal{};  // not its maker's
    pthread_attr_setschedparam(&attributes, &normal);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // a new thread inherits the mask: there is no moment without it
    auto shared = std::make_unique<std::shared_ptr<Core>>(core_);
    const int created = pthread_create(&core_->thread, &attributes, Core::enter, shared.get());
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    if (created != 0) return fail_errno("thread " + core_->name, created);
    (void)shared.release();  // the thread's
    started_ = true;
    return {};
}

Lane::~Lane() { close(); }

void Lane::close() {
    if (!std::exchange(started_, false)) return;
    core_->closing = true;
    core_->closing.notify_all();
    core_->loop.stop();
    const bool may_wait =
        core_->duty != Duty::expendable ||
        core_->ended.get_future().wait_for(core_->drain + grace_after_drain) == std::future_status::ready;
    if (may_wait) {
        pthread_join(core_->thread, nullptr);
        return;
    }
    core_->left_behind = true;
    any_thread_left_behind = true;
    log::error(core_->name + ": a task hangs in the kernel; its thread is left behind");
    pthread_detach(core_->thread);
}

bool Lane::any_left_behind() { return any_thread_left_behind; }

std::uint64_t Lane::dropped() const { return core_->dropped; }

Loop& Lane::loop() { return core_->loop; }

bool Lane::post(Loop::Callback work) { return core_->post(std::move(work)); }

bool Lane::Core::post(Loop::Callback work) {
    if (!closing && loop.post(std::move(work))) return true;
    ++dropped;
    return false;
}

bool Lane::post_urgent(Loop::Callback work, int priority) {
    if (priority <= 0 || core_->closing) return post(std::move(work));
    ++core_->urgent;
    schedule(core_->thread, SCHED_FIFO, priority);  // before it is woken
    const bool posted = post([core = core_.get(), kept = std::move(work), priority] {
        kept();
        core->urgent_is_done(priority);
    });
    if (!posted) core_->urgent_is_done(priority);
    return posted;
}

void Lane::Core::urgent_is_done(int priority) {
    if (--urgent > 0) return;
    stand();
    if (urgent > 0) schedule(thread, SCHED_FIFO, priority);  // asked for in between
}

void Lane::give_way() { schedule(core_->thread, SCHED_OTHER, 0); }

void Lane::be_urgent(int priority) {
    if (core_->standing.exchange(priority) != priority && core_->urgent == 0) core_->stand();
}

bool Lane::arm(Timer& timer, std::optional<MonotonicTime> due, Loop::Callback ring) {
    if (!timer) {
        auto made = core_->loop.add_timer(std::move(ring));
        if (!made) {
            log::error(core_->name + ": " + made.error().text());
            return false;
        }
        timer = std::move(*made);
    }
    if (due) {
        timer.arm(*due);
    } else {
        timer.disarm();
    }
    return true;
}

void* Lane::Core::enter(void* shared) {
    const std::unique_ptr<std::shared_ptr<Core>> core(static_cast<std::shared_ptr<Core>*>(shared));
    (*core)->work();
    (*core)->ended.set_value();
    return nullptr;
}

void Lane::Core::work() {
    pthread_setname_np(pthread_self(), name.c_str());
    {
        const auto watched = ProofOfLife::of_this_program().watch(name, loop, duty);
        if (auto ran = loop.run(); !ran && !left_behind) {
            ProofOfLife::of_this_program().fail(name, ran.error());
            closing.wait(false);
        }
    }
    const auto end = SystemClock().monotonic() + drain;
    while (!left_behind && SystemClock().monotonic() < end && loop.run_one_posted()) {}
}

}  // namespace evictd::sys

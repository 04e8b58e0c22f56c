// SPDX-License-Identifier: Apache-2.0
// pthreads rather than std::thread, because of the stack size and the signal mask the thread is born with.
#include "sys/lane.hpp"

#include <csignal>
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

// Refused: it stays as it is.
void schedule(pthread_t thread, int policy, int priority) {
    sched_param parameters{};
    parameters.sched_priority = priority;
    (void)pthread_setschedparam(thread, policy, &parameters);
}

}  // namespace

Lane::Lane(Loop loop, std::string name, Duration drain, Duty duty)
    : loop_(std::move(loop)), name_(std::move(name)), drain_(drain), duty_(duty) {}

Result<std::unique_ptr<Lane>> Lane::make(const std::string& name, std::size_t queue_capacity, Duration drain,
                                         Duty duty) {
    auto loop = Loop::make(queue_capacity);
    if (!loop) return tl::unexpected(loop.error());
    std::unique_ptr<Lane> lane(new Lane(std::move(*loop), name.substr(0, 15), drain, duty));
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
    const int created = pthread_create(&thread_, &attributes, enter, this);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    if (created != 0) return fail_errno("thread " + name_, created);
    started_ = true;
    return {};
}

Lane::~Lane() { close(); }

void Lane::close() {
    if (!std::exchange(started_, false)) return;
    closing_ = true;
    closing_.notify_all();
    loop_.stop();
    pthread_join(thread_, nullptr);
}

bool Lane::post(Loop::Callback work) {
    if (!closing_ && loop_.post(std::move(work))) return true;
    ++dropped_;
    return false;
}

bool Lane::post_urgent(Loop::Callback work, int priority) {
    if (priority <= 0 || closing_) return post(std::move(work));
    ++urgent_;
    schedule(thread_, SCHED_FIFO, priority);  // before it is woken
    const bool posted = post([this, kept = std::move(work), priority] {
        kept();
        urgent_is_done(priority);
    });
    if (!posted) urgent_is_done(priority);
    return posted;
}

void Lane::urgent_is_done(int priority) {
    if (--urgent_ > 0) return;
    schedule(thread_, SCHED_OTHER, 0);
    if (urgent_ > 0) schedule(thread_, SCHED_FIFO, priority);  // asked for in between
}

bool Lane::arm(Timer& timer, std::optional<MonotonicTime> due, Loop::Callback ring) {
    if (!timer) {
        auto made = loop_.add_timer(std::move(ring));
        if (!made) {
            log::error(name_ + ": " + made.error().text());
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

void* Lane::enter(void* lane) {
    static_cast<Lane*>(lane)->work();
    return nullptr;
}

void Lane::work() {
    pthread_setname_np(pthread_self(), name_.c_str());
    {
        const auto watched = ProofOfLife::of_this_program().watch(name_, loop_, duty_);
        if (auto ran = loop_.run(); !ran) {
            ProofOfLife::of_this_program().fail(name_, ran.error());
            closing_.wait(false);
        }
    }
    const auto end = SystemClock().monotonic() + drain_;
    while (SystemClock().monotonic() < end && loop_.run_one_posted()) {}
}

}  // namespace evictd::sys

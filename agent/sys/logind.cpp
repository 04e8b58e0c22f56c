// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/logind.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>

#include <poll.h>
#include <systemd/sd-bus.h>

#include "sys/clock.hpp"
#include "sys/lane.hpp"
#include "sys/log.hpp"

namespace evictd::sys {
namespace {

using namespace std::chrono_literals;

constexpr auto service = "org.freedesktop.login1";
constexpr auto object = "/org/freedesktop/login1";
constexpr auto manager = "org.freedesktop.login1.Manager";
// logind came, or went.
constexpr auto owner_changed =
    "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',interface='org.freedesktop.DBus',"
    "member='NameOwnerChanged',arg0='org.freedesktop.login1'";
// The timers have their turn, however much another sends.
constexpr int most_messages = 64;
// Until a socket that takes nothing is tried again.
constexpr Duration write_again = 50ms;

struct CloseBus {
    void operator()(sd_bus* bus) const { sd_bus_close_unref(bus); }
};
struct UnrefMessage {
    void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
};
using Message = std::unique_ptr<sd_bus_message, UnrefMessage>;

std::string text_of(int error) { return std::strerror(-error); }

}  // namespace

// All in the lane. Only asynchronous calls: the synchronous ones wait for the bus without a limit until it is open.
struct Logind::Bus {
    OnWord on_word;
    Periods periods;
    LogindWord word{.shuts_down = false, .said_at = {}, .problem = "not heard yet"};
    bool is_asking = false;
    bool ask_again = false;  // what it was asked may have changed meanwhile
    int failures = 0;        // one after the other
    std::unique_ptr<sd_bus, CloseBus> bus;
    Timer next;     // to ask, or to open the bus
    Timer overdue;  // the answer
    Timer process;  // what the library waits for by itself
    Timer repeat;   // the word
    Source readable;
    std::unique_ptr<Lane> lane;  // the last member: its thread uses all of the above

    static int on_signal(sd_bus_message* message, void* self, sd_bus_error* /*error*/) {
        // Those of logind and of the bus have no destination, and the bus delivers such a signal only if its sender
        // owns the name that the match is for. What is sent straight to this connection passes any match.
        if (sd_bus_message_get_destination(message) == nullptr) static_cast<Bus*>(self)->ask();
        return 0;
    }

    static int on_answer(sd_bus_message* message, void* self, sd_bus_error* /*error*/) {
        static_cast<Bus*>(self)->take_answer(message);
        return 0;
    }

    void begin() {
        for (const auto& [timer, ring] : {std::pair{&next, &Bus::go_on}, std::pair{&overdue, &Bus::give_up},
                                          std::pair{&process, &Bus::work}, std::pair{&repeat, &Bus::say}}) {
            auto made = lane->loop().add_timer([this, ring = ring] { (this->*ring)(); });
            if (!made) return log::error("logind: " + made.error().text());
            *timer = std::move(*made);
        }
        open();
    }

    void go_on() { bus ? ask() : open(); }

    void open() {
        sd_bus* made = nullptr;
        if (const int error = sd_bus_open_system(&made); error < 0) {
            return fail_with("the system bus could not be opened: " + text_of(error));
        }
        bus.reset(made);
        auto added = lane->loop().add_fd(sd_bus_get_fd(made), [this] { work(); });
        if (!added) return lose(added.error().text());
        readable = std::move(*added);
        // Before it is asked: no change is missed.
        int error = sd_bus_match_signal_async(made, nullptr, service, object, manager, "PrepareForShutdown", on_signal,
                                              nullptr, this);
        if (error >= 0) error = sd_bus_add_match_async(made, nullptr, owner_changed, on_signal, nullptr, this);
        if (error < 0) return lose("the system bus takes no match: " + text_of(error));
        ask();
    }

    void ask() {
        if (std::exchange(is_asking, true)) {
            ask_again = true;
            return;
        }
        ask_again = false;
        sd_bus_message* made = nullptr;
        int error =
            sd_bus_message_new_method_call(bus.get(), &made, service, object, "org.freedesktop.DBus.Properties", "Get");
        const Message question(made);
        // To the name: the bus gives it only to who may own it, which is root, and lets only who was asked answer.
        // A logind that is not running is not started by this.
        if (error >= 0) error = sd_bus_message_set_auto_start(made, 0);
        if (error >= 0) error = sd_bus_message_append(made, "ss", manager, "PreparingForShutdown");
        if (error >= 0) error = sd_bus_call_async(bus.get(), nullptr, made, on_answer, this, 0);
        overdue.arm_in(error >= 0 ? periods.answer : Duration::zero());
        process.arm_in(Duration::zero());
    }

    void take_answer(sd_bus_message* message) {
        is_asking = false;
        overdue.disarm();
        if (ask_again) return ask();
        int shuts_down = 0;
        if (const auto* error = sd_bus_message_get_error(message); error != nullptr) {
            return fail_with(std::string("PreparingForShutdown cannot be read: ") +
                             (error->message != nullptr ? error->message : error->name));
        }
        if (const int error = sd_bus_message_read(message, "v", "b", &shuts_down); error < 0) {
            return fail_with("PreparingForShutdown cannot be read: " + text_of(error));
        }
        failures = 0;
        const bool was_heard = word.problem.empty();
        if (!was_heard && word.said_at != MonotonicTime{}) log::info("logind is heard again");
        const bool changed = !was_heard || word.said_at == MonotonicTime{} || word.shuts_down != (shuts_down != 0);
        word = {.shuts_down = shuts_down != 0, .said_at = SystemClock().monotonic(), .problem = {}};
        next.arm_in(word.shuts_down ? periods.again : periods.longest);
        if (changed || word.shuts_down) say();
    }

    void give_up() { lose("the system bus or logind does not answer"); }

    // What the library has to do. Not from its own functions.
    void work() {
        if (!bus) return;
        int done = 1;
        for (int i = 0; i < most_messages && done > 0; i++) done = sd_bus_process(bus.get(), nullptr);
        if (done < 0 || sd_bus_is_open(bus.get()) <= 0) {
            return lose("the system bus went away" + (done < 0 ? ": " + text_of(done) : ""));
        }
        std::uint64_t due_us = UINT64_MAX;
        if (done > 0) {
            process.arm_in(Duration::zero());
        } else if ((sd_bus_get_events(bus.get()) & POLLOUT) != 0) {
            process.arm_in(write_again);
        } else if (sd_bus_get_timeout(bus.get(), &due_us) >= 0 && due_us != UINT64_MAX) {
            process.arm(MonotonicTime(std::chrono::microseconds(due_us)));
        }
    }

    void lose(const std::string& why) {
        readable.reset();
        process.disarm();
        overdue.disarm();
        is_asking = false;
        bus.reset();
        fail_with(why);
    }

    // The last word stays, and gets old.
    void fail_with(const std::string& why) {
        next.arm_in(word.shuts_down ? periods.again
                                    : std::min(periods.longest, periods.again * (1 << std::min(failures++, 8))));
        if (word.problem.empty()) log::warn("logind: " + why);
        if (std::exchange(word.problem, why) != why) say();
    }

    void say() {
        if (!on_word(word)) repeat.arm_in(periods.repeat);
    }
};

Logind::Logind(std::unique_ptr<Bus> bus) : bus_(std::move(bus)) {}

Logind::~Logind() {
    if (bus_->lane) bus_->lane->close();
}

Result<std::unique_ptr<Logind>> Logind::start(OnWord on_word, Periods periods) {
    auto lane = Lane::make("evictd-logind", Loop::default_queue, Lane::default_drain, Duty::may_block);
    if (!lane) return tl::unexpected(lane.error());
    auto bus = std::make_unique<Bus>();
    bus->on_word = std::move(on_word);
    bus->periods = periods;
    bus->lane = std::move(*lane);
    bus->lane->post([made = bus.get()] { made->begin(); });
    return std::unique_ptr<Logind>(new Logind(std::move(bus)));
}

}  // namespace evictd::sys

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// logind's word that the machine shuts down, over the system bus, as the kubelet hears it (nodeshutdown/systemd). It
// delays no shutdown: the kubelet's own inhibitor lock does. sd-bus stays in here.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"

namespace evictd::sys {

struct LogindWord {
    bool shuts_down = false;  // PreparingForShutdown, as it was last answered
    MonotonicTime said_at;    // when that was; zero: never
    std::string problem;      // why it is not heard now. Empty: it is
};

// Everybody may use the bus, and send any signal straight to a connection: signals only say when to ask, and what is
// believed is the answer of who owns logind's name.
class Logind {
public:
    struct Periods {
        Duration answer = std::chrono::seconds(5);     // what it waits for an answer, and for the bus to be opened
        Duration again = std::chrono::seconds(10);     // while a shutdown is under way, and after a failure
        Duration longest = std::chrono::seconds(160);  // without a shutdown, and between two tries without a logind
        Duration repeat = std::chrono::seconds(1);     // after a word that was not taken
    };
    // Each change, and each answer while the machine shuts down. In a thread of its own. False: it could not be taken,
    // and is said again.
    using OnWord = std::function<bool(const LogindWord& word)>;

    // Opens the bus in its thread, and opens it again when it goes away. Nothing waits for a bus or a logind that does
    // not answer. Error: there is no thread to be had.
    static Result<std::unique_ptr<Logind>> start(OnWord on_word, Periods periods);
    static Result<std::unique_ptr<Logind>> start(OnWord on_word) { return start(std::move(on_word), Periods{}); }
    Logind(const Logind&) = delete;
    Logind& operator=(const Logind&) = delete;
    ~Logind();  // after it, no more calls

private:
    struct Bus;
    explicit Logind(std::unique_ptr<Bus> bus);
    std::unique_ptr<Bus> bus_;
};

}  // namespace evictd::sys

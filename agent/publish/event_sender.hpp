// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Delivers kube events to the API server, oldest first, one request at a time. A server that is away is asked again
// with back-off, without end; an event that it refuses is dropped, one that it forbids (403) is tried again for an hour
// and delays those of its own namespace alone. One thread alone calls it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "codec/kube_event.hpp"
#include "evictd/port/api_server.hpp"
#include "publish/event_correlator.hpp"
#include "publish/event_holds.hpp"
#include "publish/event_spool.hpp"
#include "sys/arrivals.hpp"
#include "sys/clock.hpp"

namespace evictd::publish {

struct EventAnswer {
    std::uint64_t request = 0;
    Result<port::ApiReply> reply;
};
using EventAnswers = sys::Arrivals<EventAnswer>;

struct EventSenderOptions {
    std::string node;
    std::string spool_path;          // empty: what is not delivered is lost with the agent
    bool dry_run = false;            // nothing is sent; each is logged
    std::function<double()> random;  // from 0 to 1; none: 0.5
};

class EventSender {
public:
    EventSender(std::shared_ptr<port::ApiServer> api, const sys::Clock& clock, EventSenderOptions options,
                std::shared_ptr<EventAnswers> answers);

    // First of all: what the agent before could not deliver.
    void load();
    void add(codec::KubeEvent event);
    // Takes answers, writes down what is new, then sends. To be called when something was added, arrived or is due.
    void work();
    [[nodiscard]] std::optional<MonotonicTime> due() const;

    [[nodiscard]] std::uint64_t lost() const { return lost_; }  // refused, or no room; never delivered
    [[nodiscard]] std::size_t waiting() const { return spool_.size(); }

private:
    struct Call {
        std::uint64_t request = 0;
        bool is_patch = false;
        MonotonicTime deadline;
    };
    void send();
    void on_answer(const EventAnswer& answer);
    void on_reply(bool was_patch, const port::ApiReply& reply);
    void retry(Duration at_least);
    void put_off(const std::string& why);
    void note_failure(const std::string& why);
    [[nodiscard]] std::optional<std::size_t> next_sendable(MonotonicTime now) const;
    [[nodiscard]] double spread() const;
    void lose(const std::string& why);
    void say(const std::string& refusal);
    void write_down();

    std::shared_ptr<port::ApiServer> api_;
    const sys::Clock& clock_;
    EventSenderOptions options_;
    std::shared_ptr<EventAnswers> answers_;
    EventCorrelator correlator_;
    EventSpool spool_;
    EventHolds holds_;
    std::optional<Call> call_;
    std::uint64_t requests_ = 0;
    MonotonicTime next_;
    Duration back_off_{0};
    std::uint64_t lost_ = 0;
    std::uint64_t accepted_ = 0;
    std::string said_;         // the last refusal; empty since the server accepted one
    bool is_unsaved_ = false;  // the disk refused, and that was said
};

}  // namespace evictd::publish

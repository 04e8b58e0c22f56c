// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Kube events that the API server does not have yet, in memory and in a file that outlives the agent. Bounded. Each has
// its name, so that one that was delivered and not struck off is refused by the server as there already.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "evictd/model/result.hpp"

namespace evictd::publish {

// Of the server with one event, as far as this agent has seen them.
struct EventFailures {
    int count = 0;
    std::uint64_t accepted_before = 0;  // events that the server had accepted when it first failed
};

struct SpooledEvent {
    std::string name_space;
    std::string name;
    std::string reason;
    std::string json;       // codec::kube_event_json()
    bool is_again = false;  // the server has it, with a lower count
    EventFailures failures{};
};

class EventSpool {
public:
    // What an API server that is away for hours may cost the agent: events of up to a few KiB each.
    static constexpr std::size_t most_events = 256;
    static constexpr std::size_t most_bytes = std::size_t{512} << 10U;

    // `path` empty: in memory only.
    explicit EventSpool(std::string path) : path_(std::move(path)) {}

    // What the agent before left. What is not an event of ours is left out; an error: there are such lines. A file that
    // cannot be read is an error, too, and stays as it is: this spool is in memory only then.
    Status load();
    // Replaces one of the same name that was not begun. False: the oldest had to go for it: those that are
    // `unwanted` first, then other events before evictions.
    bool add(SpooledEvent event, const std::function<bool(const SpooledEvent&)>& unwanted = {});
    [[nodiscard]] bool empty() const { return events_.empty(); }
    // The oldest first.
    [[nodiscard]] const std::deque<SpooledEvent>& events() const { return events_; }
    void bring_to_front(std::size_t index);
    // It stays until it is dropped.
    [[nodiscard]] const SpooledEvent& begin_first();
    void put_back_first() { is_begun_ = false; }
    void again_as_new() { events_.front().is_again = false; }
    void drop_first();
    // Counts. `accepted`: how many events the server has accepted until now.
    const EventFailures& fail_first(std::uint64_t accepted);
    void move_first_to_end();
    // The first too, begun or not. How many there were.
    std::size_t drop_namespace(const std::string& name_space);
    // Writes the file where it differs: the old text or the new, whatever happens meanwhile.
    Status save();
    [[nodiscard]] std::size_t size() const { return events_.size(); }

private:
    std::string path_;
    std::deque<SpooledEvent> events_;
    std::size_t bytes_ = 0;
    bool is_begun_ = false;  // a request with the first is under way
    bool is_saved_ = true;
};

}  // namespace evictd::publish

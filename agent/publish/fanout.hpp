// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Hands every Record to every publisher. The kill path only puts a pointer into a bounded queue. Publishers that wait
// for nothing but the disk share one lane, because a thread costs 512 KiB of locked memory; one that waits for a
// network has a lane of its own, with a bounded queue, and holds up no other. Not for deciding what a publisher makes
// of a Record.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "evictd/model/result.hpp"
#include "evictd/port/publisher.hpp"
#include "sys/lane.hpp"

namespace evictd::publish {

class Fanout {
public:
    // Records waiting at most. One with 1,000 pods is some 200 KB, so this is at most 13 MB behind a stuck disk; half
    // of it would drop in a burst of looks that a busy disk survives.
    static constexpr std::size_t default_queue = 64;
    // Called in the lane with each record before any publisher: adds what publishers need and the kill path does not.
    using Complete = std::function<RecordPtr(const RecordPtr& record)>;
    using Make = std::function<Result<std::unique_ptr<port::Publisher>>(sys::Loop& loop)>;

    static Result<std::unique_ptr<Fanout>> make(std::size_t queue_capacity = default_queue, Complete complete = {});
    Fanout(const Fanout&) = delete;
    Fanout& operator=(const Fanout&) = delete;
    // Publishes what was accepted, for as long as each Lane drains; then the publishers go, the last first.
    ~Fanout();

    // Calls `make` in the shared lane, where a publisher may add to the loop, and waits for it. For start-up.
    // Publishers hear of a Record in the order in which they were added. Null: not wanted here, and no error.
    Status add(const Make& make);
    // As add(), in a lane of its own. It hears of a Record before those of the shared lane, unless `queue_capacity`
    // wait for it already: then the Record is dropped for it alone, counted, and the loss published to all as soon as
    // it takes Records again. It shares nothing with others without a lock; what it waits for needs a time limit,
    // because ~Fanout waits for it.
    Status add_in_own_lane(const std::string& name, const Make& make, std::size_t queue_capacity = default_queue);

    // Thread-safe, never waits. False: the queue was full; the record is dropped, counted, and the loss published.
    bool publish(RecordPtr record);
    [[nodiscard]] std::uint64_t dropped() const { return dropped_; }
    // Records dropped, by where, for people. In the shared lane.
    [[nodiscard]] std::map<std::string, std::uint64_t> losses() const;

private:
    struct OwnLane;

    Fanout();
    void hand_out(const RecordPtr& record);
    void deliver(const RecordPtr& record, const OwnLane* except = nullptr);
    void report_drops(const Record& record);
    [[nodiscard]] RecordPtr completed(const RecordPtr& record) const;

    Complete complete_;
    // The shared lane's, as are the next two.
    std::vector<std::unique_ptr<port::Publisher>> publishers_;
    std::vector<std::unique_ptr<OwnLane>> own_lanes_;
    std::uint64_t reported_ = 0;
    std::atomic<std::uint64_t> dropped_ = 0;
    std::unique_ptr<sys::Lane> lane_;
};

}  // namespace evictd::publish

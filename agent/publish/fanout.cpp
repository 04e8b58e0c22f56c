// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The shared lane, those of single publishers, and the counts of what did not fit.
#include "publish/fanout.hpp"

#include <exception>
#include <future>
#include <string>
#include <utility>

#include "evictd/model/record.hpp"
#include "sys/log.hpp"

namespace evictd::publish {
namespace {

WallTime wall_of(const Record& record) {
    if (const auto* tick = std::get_if<Tick>(&record)) return tick->observation.wall;
    return std::get<AgentNotice>(record).wall;
}

// Runs `work` in the lane and waits for it.
Status run_in(sys::Lane& lane, const std::function<Status()>& work) {
    std::promise<Status> done;
    const bool posted = lane.post([&] {
        Status status;
        try {
            status = work();
        } catch (const std::exception& thrown) {
            status = fail(ErrorKind::failed, "publisher", thrown.what());
        }
        done.set_value(std::move(status));
    });
    if (!posted) return fail(ErrorKind::failed, "publisher", "the publishing lane takes no more work");
    return done.get_future().get();
}

void tell(port::Publisher& publisher, const RecordPtr& record) {
    try {
        publisher.publish(record);
    } catch (const std::exception& thrown) {
        sys::log::error(std::string("publishing failed: ") + thrown.what());
    }
}

RecordPtr lost_records(std::uint64_t count, const std::string& why, const Record& before) {
    return std::make_shared<const Record>(AgentNotice{Notice::kernel_events_lost, wall_of(before),
                                                      std::to_string(count) + " records were lost: " + why, ""});
}

}  // namespace

struct Fanout::OwnLane {
    std::string name;
    std::unique_ptr<port::Publisher> publisher;  // of that lane
    std::uint64_t dropped = 0;                   // of the shared lane, as is the next
    std::uint64_t reported = 0;
    std::unique_ptr<sys::Lane> lane;  // last: its thread must be gone first

    // False: its queue is full.
    [[nodiscard]] bool post(const RecordPtr& record) const {
        return lane->post([&to = *publisher, record] { tell(to, record); });
    }
};

Result<std::unique_ptr<Fanout>> Fanout::make(std::size_t queue_capacity, Complete complete) {
    std::unique_ptr<Fanout> fanout(new Fanout);
    fanout->complete_ = std::move(complete);
    auto lane = sys::Lane::make("evictd-publish", queue_capacity, sys::Lane::default_drain, sys::Duty::may_block);
    if (!lane) return tl::unexpected(lane.error());
    fanout->lane_ = std::move(*lane);
    return fanout;
}

Fanout::Fanout() = default;

Fanout::~Fanout() {
    lane_.reset();
    while (!own_lanes_.empty()) own_lanes_.pop_back();
    while (!publishers_.empty()) publishers_.pop_back();
}

Status Fanout::add(const Make& make) {
    return run_in(*lane_, [&]() -> Status {
        auto publisher = make(lane_->loop());
        if (!publisher) return tl::unexpected(publisher.error());
        if (*publisher) publishers_.push_back(std::move(*publisher));
        return {};
    });
}

Status Fanout::add_in_own_lane(const std::string& name, const Make& make, std::size_t queue_capacity) {
    auto lane = sys::Lane::make("evictd-" + name, queue_capacity, sys::Lane::default_drain, sys::Duty::may_block);
    if (!lane) return tl::unexpected(lane.error());
    auto own = std::make_unique<OwnLane>();
    own->name = name;
    own->lane = std::move(*lane);
    auto made = run_in(*own->lane, [&]() -> Status {
        auto publisher = make(own->lane->loop());
        if (!publisher) return tl::unexpected(publisher.error());
        own->publisher = std::move(*publisher);
        return {};
    });
    if (!made || !own->publisher) return made;
    return run_in(*lane_, [&]() -> Status {
        own_lanes_.push_back(std::move(own));
        return {};
    });
}

bool Fanout::publish(RecordPtr record) {
    if (lane_->post([this, kept = std::move(record)] { hand_out(kept); })) return true;
    ++dropped_;
    return false;
}

std::map<std::string, std::uint64_t> Fanout::losses() const {
    std::map<std::string, std::uint64_t> lost{{"records dropped before publishing", dropped_}};
    for (const auto& own : own_lanes_) lost["records dropped by " + own->name] = own->dropped;
    return lost;
}

void Fanout::hand_out(const RecordPtr& record) {
    report_drops(*record);
    deliver(completed(record));
}

void Fanout::deliver(const RecordPtr& record, const OwnLane* except) {
    for (const auto& own : own_lanes_) {
        if (own.get() != except && !own->post(record)) ++own->dropped;
    }
    for (const auto& publisher : publishers_) tell(*publisher, record);
}

RecordPtr Fanout::completed(const RecordPtr& record) const {
    if (!complete_) return record;
    try {
        return complete_(record);
    } catch (const std::exception& thrown) {
        sys::log::error(std::string("publishing the record without its history: ") + thrown.what());
        return record;
    }
}

// Before the next delivered record, in the place of the lost ones.
void Fanout::report_drops(const Record& record) {
    if (const std::uint64_t dropped = dropped_; dropped != reported_) {
        deliver(lost_records(dropped - reported_, "publishing was slower than the agent", record));
        reported_ = dropped;
    }
    for (const auto& own : own_lanes_) {
        if (own->dropped == own->reported) continue;
        const auto notice =
            lost_records(own->dropped - own->reported, own->name + " was slower than the agent", record);
        if (!own->post(notice)) continue;  // still full: reported once it takes records again, with the whole count
        own->reported = own->dropped;
        deliver(notice, own.get());
    }
}

}  // namespace evictd::publish

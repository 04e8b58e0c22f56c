// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One lane, a list of publishers, and the count of what did not fit.
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

}  // namespace

Result<std::unique_ptr<Fanout>> Fanout::make(std::size_t queue_capacity, Complete complete) {
    std::unique_ptr<Fanout> fanout(new Fanout);
    fanout->complete_ = std::move(complete);
    auto lane = sys::Lane::make("evictd-publish", queue_capacity, sys::Lane::default_drain, sys::Duty::may_block);
    if (!lane) return tl::unexpected(lane.error());
    fanout->lane_ = std::move(*lane);
    return fanout;
}

Fanout::~Fanout() {
    lane_.reset();
    while (!publishers_.empty()) publishers_.pop_back();
}

Status Fanout::add(const Make& make) {
    std::promise<Status> done;
    const bool posted = lane_->post([&] {
        Status status;
        try {
            auto publisher = make(lane_->loop());
            if (!publisher)
                status = tl::unexpected(publisher.error());
            else if (*publisher)
                publishers_.push_back(std::move(*publisher));
        } catch (const std::exception& thrown) {
            status = fail(ErrorKind::failed, "publisher", thrown.what());
        }
        done.set_value(std::move(status));
    });
    if (!posted) return fail(ErrorKind::failed, "publisher", "the publishing lane takes no more work");
    return done.get_future().get();
}

bool Fanout::publish(RecordPtr record) {
    if (lane_->post([this, kept = std::move(record)] { hand_out(kept); })) return true;
    ++dropped_;
    return false;
}

void Fanout::hand_out(const RecordPtr& record) {
    report_drops(*record);
    const auto whole = completed(record);
    for (const auto& publisher : publishers_) {
        try {
            publisher->publish(whole);
        } catch (const std::exception& thrown) {
            sys::log::error(std::string("publishing failed: ") + thrown.what());
        }
    }
}

RecordPtr Fanout::completed(const RecordPtr& record) const {
    if (!complete_) return record;
    try {
        return complete_(record);
    } catch (const std::exception& thrown) {
        sys::log::error(std::string("a record is published as it came: ") + thrown.what());
        return record;
    }
}

// Before the record that made it through: the loss stands where the lost ones would have stood.
void Fanout::report_drops(const Record& record) {
    const std::uint64_t dropped = dropped_;
    if (dropped == reported_) return;
    AgentNotice notice{Notice::kernel_events_lost, wall_of(record), "", ""};
    notice.message = std::to_string(dropped - reported_) + " records were lost: publishing was slower than the agent";
    reported_ = dropped;
    const auto shared = std::make_shared<const Record>(std::move(notice));
    for (const auto& publisher : publishers_) publisher->publish(shared);
}

}  // namespace evictd::publish

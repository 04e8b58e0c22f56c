// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// JSON lines to the file, and an honest account of those that did not get there.
#include "publish/event_log.hpp"

#include "codec/event_json.hpp"
#include "sys/log.hpp"

namespace evictd::publish {

void EventLog::publish(const RecordPtr& record) {
    for (const auto& event : events_->of(record)) write(event);
}

void EventLog::write(const codec::Event& event) {
    Status written;
    if (unreported_ == 0 || report_loss(event.time))
        written = file_.append(codec::to_json_line(event, node_));
    else
        written = fail(ErrorKind::failed, "event log", why_);
    if (written) return;
    if (unreported_ == 0) {
        why_ = written.error().why;
        sys::log::warn("event log: " + written.error().text() + "; lines are lost until that ends");
    }
    ++unreported_;
    ++lost_;
}

// Said once the file takes lines again, and before the first that it takes.
bool EventLog::report_loss(WallTime now) {
    codec::Event loss;
    loss.time = now;
    loss.severity = codec::Severity::warning;
    loss.reason = codec::Reason::kernel_events_lost;
    loss.cause = "event log";
    loss.message = std::to_string(unreported_) + " lines of the event log were lost: " + why_;
    if (!file_.append(codec::to_json_line(loss, node_))) return false;
    sys::log::info("event log: written again; " + std::to_string(unreported_) + " lines were lost");
    unreported_ = 0;
    return true;
}

}  // namespace evictd::publish

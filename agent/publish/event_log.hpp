// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The event stream as JSON lines in a rotating file. Trouble with the disk loses lines, which are counted and reported
// in the log itself when there is room again; it never stops the agent.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "codec/event.hpp"
#include "evictd/port/publisher.hpp"
#include "publish/event_stream.hpp"
#include "publish/rotating_file.hpp"

namespace evictd::publish {

class EventLog final : public port::Publisher {
public:
    EventLog(RotatingFileOptions options, std::string node,
             std::shared_ptr<EventStream> events = std::make_shared<EventStream>())
        : file_(std::move(options)), node_(std::move(node)), events_(std::move(events)) {}

    void publish(const RecordPtr& record) override;
    // Any thread.
    [[nodiscard]] std::uint64_t lost_lines() const { return lost_; }

private:
    void write(const codec::Event& event);
    bool report_loss(WallTime now);

    RotatingFile file_;
    std::string node_;
    std::shared_ptr<EventStream> events_;
    std::atomic<std::uint64_t> lost_ = 0;
    std::uint64_t unreported_ = 0;
    std::string why_;  // of the first loss that is not reported yet
};

}  // namespace evictd::publish

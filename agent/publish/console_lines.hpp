// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The event stream on stdout, as JSON lines (for a container's log) or as text (for a person). A reader that does not
// read loses lines and blocks no thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "codec/event.hpp"
#include "codec/text_style.hpp"
#include "evictd/port/publisher.hpp"
#include "publish/event_stream.hpp"

namespace evictd::publish {

enum class ConsoleFormat : std::uint8_t { json, text };

class ConsoleLines final : public port::Publisher {
public:
    // `fd` stays the caller's.
    ConsoleLines(int fd, ConsoleFormat format, std::string node, codec::TextStyle style = {},
                 std::shared_ptr<EventStream> events = std::make_shared<EventStream>());

    void publish(const RecordPtr& record) override;

private:
    void add(const std::string& line);
    void flush();

    int fd_;
    ConsoleFormat format_;
    std::string node_;
    codec::TextStyle style_;
    std::shared_ptr<EventStream> events_;
    std::string pending_;
    std::uint64_t lost_ = 0;  // since the last line that was taken
    bool closed_ = false;
};

}  // namespace evictd::publish

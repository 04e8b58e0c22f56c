// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The publishers that get each Record, made from the configuration. A new publisher is a function of Maker and a row in
// the list at the end of publishers.cpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "evictd/model/config.hpp"
#include "evictd/port/api_server.hpp"
#include "kernel/bpf.hpp"
#include "publish/fanout.hpp"
#include "publish/http_server.hpp"
#include "publish/status_document.hpp"
#include "publish/tape_recorder.hpp"
#include "sys/clock.hpp"

namespace evictd::app {

struct Publishers {
    std::unique_ptr<publish::StatusBoard> board;  // the others read it
    std::unique_ptr<publish::Fanout> fanout;
    std::unique_ptr<publish::HttpServer> http;  // after the fanout: its pages read publishers; null: not asked for
};

struct PublishersNeed {
    const AgentConfig& settings;
    const std::string& node;
    const sys::Clock& clock;
    kernel::Bpf* bpf;  // null: it counts no sockets and keeps no history
    publish::AgentFacts agent;
    std::function<void()> request_look;    // any thread
    std::shared_ptr<port::ApiServer> api;  // null: there is none
    bool may_spool = true;                 // events that are not delivered may be kept below settings.state_path
    std::optional<publish::TapeOptions> record;
};

// What `need` refers to must outlive them.
[[nodiscard]] Result<Publishers> make_publishers(PublishersNeed need);

}  // namespace evictd::app

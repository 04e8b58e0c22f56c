// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "cli/lost_events.hpp"

#include <iostream>

#include "codec/status_text.hpp"
#include "publish/status_client.hpp"

namespace evictd::cli {

void report_lost_events(const std::string& socket) {
    auto client = publish::StatusClient::connect(socket);
    if (!client) {
        return;
    }
    const auto status = client->ask({.verb = codec::RequestVerb::status});
    const auto lost = status ? codec::lost_event_lines(*status) : 0;
    if (lost > 0) {
        std::cerr << "evictd: event log: " << lost << (lost == 1 ? " event" : " events")
                  << " could not be written since the agent started (the agent's own log says why)\n";
    }
}

}  // namespace evictd::cli

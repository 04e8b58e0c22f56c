// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The one list of what exists: makes every part from the configuration, connects them, and runs. No decision is taken
// here but which adapter stands behind a port.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "evictd/model/config.hpp"
#include "evictd/model/result.hpp"
#include "publish/tape_recorder.hpp"

namespace evictd::app {

// Where the configuration came from, to read it again.
struct ConfigSource {
    // With the kubelet's own configuration beneath the files, where it is given.
    std::function<config::ConfigOutcome(const std::optional<config::KubeletText>& kubelet)> read;
    std::vector<std::string> files;  // absolute; of those that can be read again
    std::string stamp;               // config_stamp() of them, from before they were read
};

class Wiring {
public:
    // Everything that can fail at start fails here, with nothing left behind. `record`: where a tape is written, if one
    // is.
    static Result<std::unique_ptr<Wiring>> make(const Config& config, ConfigSource source,
                                                std::optional<publish::TapeOptions> record = std::nullopt);
    Wiring(const Wiring&) = delete;
    Wiring& operator=(const Wiring&) = delete;
    ~Wiring();

    // Until SIGTERM, SIGINT or SIGQUIT. An error: the agent had to stop by itself.
    Status run();

private:
    struct Parts;
    explicit Wiring(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace evictd::app

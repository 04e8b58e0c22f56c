// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The demo's two ways to hear from the agent it runs: the events on its stdout as they happen, its status on request.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "codec/status_parts.hpp"
#include "codec/text_style.hpp"
#include "demo/line_reader.hpp"

namespace evictd::demo {

class AgentLink {
public:
    // `output` stays the caller's and does not block.
    AgentLink(int output, std::string socket) : output_(output), socket_(std::move(socket)) {}

    // Every whole line that has come since the last call.
    void read(const std::function<void(const std::string& line)>& on_line) { (void)lines_.read(output_, on_line); }
    // A fresh look. None: it does not answer (yet); its pidfd reports that it ended.
    [[nodiscard]] std::optional<codec::StatusParts> ask(const codec::TextStyle& style) const;

private:
    int output_;
    std::string socket_;
    LineReader lines_;
};

}  // namespace evictd::demo

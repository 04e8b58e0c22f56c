// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What `evictd doctor` found on this host, as text for people and JSON for tools. It examines nothing; doctor/ does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text_style.hpp"

namespace evictd::codec {

// unknown: could not be seen, usually for want of a privilege.
enum class FindingState : std::uint8_t { ok, fallback, missing, unknown };

struct Finding {
    std::string check;  // "cgroups", "watermark"
    FindingState state = FindingState::ok;
    std::string chosen;  // what is used: "v2", "tp_btf/mark_victim"
    std::string detail;  // what it is for, or what is lost
    std::string remedy;  // what a person can do about it
};

struct DoctorReport {
    std::string host;
    std::vector<Finding> checks;
    std::vector<Finding> hooks;  // one for each kernel hook
    bool able = true;            // evictd can do its main job here
    std::string verdict;         // in a sentence
};

// {"v":1,"host":"...","able":true,"verdict":"...","checks":[{"check","state","chosen","detail","remedy"}],
// "hooks":{"watermark":{...}}}, indented; keys with nothing to say are there and empty.
[[nodiscard]] std::string doctor_json(const DoctorReport& report);
[[nodiscard]] std::string doctor_text(const DoctorReport& report, const TextStyle& style);

// Of a status document, who answered: "pid 1234, version 0.1.0, since 2026-01-01T00:00:00Z".
[[nodiscard]] std::string agent_in_short(std::string_view status_json);

}  // namespace evictd::codec

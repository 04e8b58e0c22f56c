// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A tape: what a running agent decided over, look by look, as JSON lines. A header begins a part that needs nothing of
// what stands before it; then a line a look. Not for files, and not for deciding.
//
//   {"evictd_tape":1,"version":...,"node":...,"time":...,"started":...}
//   {"look":N,"pods":[[NUMBER,{...}],...],"config":{...},"before":{...},"observation":{...},
//    "desired":{...},"next_look":{...},"decision":{...}}
//
// A pod stands in full at its first look, and under its number for as long as every look has it. `config` and `before`,
// the state, stand in the first look of a part and wherever the configuration is another.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "evictd/model/record.hpp"
#include "evictd/model/result.hpp"

namespace evictd::codec {

// What a look may be in bytes. One of 1,000 pods seen for the first time is 1 to 3 MB; without a bound a file that is
// no tape would have to fit into memory.
inline constexpr std::size_t longest_tape_line = std::size_t{8} << 20U;

// What the first line of a tape begins with.
inline constexpr std::string_view tape_mark = R"({"evictd_tape":)";

struct TapeHeader {
    std::string version;  // of the program that wrote it
    std::string node;
    WallTime time;     // of the look that follows
    WallTime started;  // of the agent: looks are counted from there
};

class TapeWriter {
public:
    TapeWriter(std::string version, std::string node, WallTime started)
        : version_(std::move(version)), node_(std::move(node)), started_(started) {}

    // Lines, without their ends. After a header every pod is written anew.
    [[nodiscard]] std::string header(WallTime time);
    // `whole`: with configuration and state. The tick must have both.
    [[nodiscard]] std::string look(const Tick& tick, bool whole);

private:
    struct Known {
        PodPtr pod;  // held, so that no other pod can come to stand at its address
        std::uint32_t number = 0;
        bool seen = false;  // at this look
    };
    std::uint32_t number_of(const PodPtr& pod, std::string& fresh);
    std::uint32_t number_of_runtime(const RuntimePtr& runtime, std::string& fresh);

    std::string version_;
    std::string node_;
    WallTime started_;
    std::unordered_map<const Pod*, Known> known_;
    std::uint32_t last_number_ = 0;
    RuntimePtr runtime_;  // the last inventory; held, as the pods are
    std::uint32_t runtime_number_ = 0;
};

struct TapeLook {
    std::uint64_t number = 0;
    std::optional<EvictionConfig> config;
    std::optional<State> before;
    Observation observation;
    // Byte for byte as they stand there.
    std::string decision;
    std::string desired;    // empty: the tape is an older agent's
    std::string next_look;  // likewise
};

class TapeReader {
public:
    using Line = std::variant<TapeHeader, TapeLook>;
    // An error says what is wrong, and not where the line stands.
    [[nodiscard]] Result<Line> read(std::string_view line);

private:
    std::map<std::uint32_t, PodPtr> pods_;  // those of the last look
    RuntimePtr runtime_;                    // the last that was written
    std::uint32_t runtime_number_ = 0;
};

// The state as one line: two states are the same if their lines are.
[[nodiscard]] std::string state_line(const State& state);

}  // namespace evictd::codec

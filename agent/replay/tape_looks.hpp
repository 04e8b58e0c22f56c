// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The looks on one or more tapes, one after the other: what was lost or torn is passed over with a note, what no
// recorder has written is an error with its line. Nothing is decided here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codec/tape_json.hpp"
#include "evictd/model/result.hpp"
#include "replay/line_file.hpp"

namespace evictd::replay {

struct PlacedLook {
    codec::TapeLook look;
    std::string place;     // "FILE:LINE"
    bool follows = false;  // directly upon the look before, which the same agent took
};

class TapeLooks {
public:
    // In the order in which they were written: `FILE.1` before `FILE`.
    TapeLooks(std::vector<std::string> files, std::function<void(const std::string&)> note)
        : files_(std::move(files)), note_(std::move(note)) {}

    // None: that was all.
    Result<std::optional<PlacedLook>> next();

private:
    using Line = codec::TapeReader::Line;
    struct Torn {
        std::string place;
        Error error;
    };

    Result<std::optional<Line>> read_line();
    Result<std::optional<Line>> read_one(std::string_view line);
    Status open_next();
    Status end_file();
    Status begin_part(const codec::TapeHeader& header);
    [[nodiscard]] std::string place() const;

    std::vector<std::string> files_;
    std::function<void(const std::string&)> note_;
    std::size_t opened_ = 0;
    std::optional<LineFile> file_;
    codec::TapeReader reader_;
    std::optional<Torn> torn_;  // a line that is none, and may be the last that an agent wrote
    std::optional<codec::TapeHeader> header_;
    bool part_begins_ = false;
    std::uint64_t last_look_ = 0;  // 0: none yet
    WallTime last_started_;
};

// Whether the file begins as a tape does. False where it cannot be read.
[[nodiscard]] bool is_tape(const std::string& path);

}  // namespace evictd::replay

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/tape_looks.hpp"

#include <utility>

#include <fmt/format.h>

#include "sys/fd.hpp"

namespace evictd::replay {

bool is_tape(const std::string& path) {
    auto file = LineFile::open(path, codec::tape_mark.size());
    if (!file) return false;
    const auto line = file->next();
    // The first chunk is read whole: a header fits into it.
    return line && *line && (*line)->starts_with(codec::tape_mark);
}

std::string TapeLooks::place() const { return files_[opened_ - 1] + ":" + std::to_string(file_->number()); }

Status TapeLooks::open_next() {
    auto file = LineFile::open(files_[opened_], codec::longest_tape_line);
    if (!file) return tl::unexpected(file.error());
    file_.emplace(std::move(*file));
    ++opened_;
    header_.reset();
    return {};
}

// A part that an agent could not finish is no fault of the tape.
Status TapeLooks::end_file() {
    if (torn_ && file_->has_end()) return tl::unexpected(torn_->error);
    if (torn_) note_(torn_->place + ": the last line was not finished, and is left out");
    torn_.reset();
    if (!header_)
        return fail(ErrorKind::invalid, files_[opened_ - 1], "not a tape: it has no header",
                    "a tape is written by evictd run --record");
    file_.reset();
    return {};
}

// One line that is none may stand at the end, or before a header.
Result<std::optional<TapeLooks::Line>> TapeLooks::read_one(std::string_view line) {
    auto read = reader_.read(line);
    const bool is_header = read && std::holds_alternative<codec::TapeHeader>(*read);
    if (torn_ && !is_header) return tl::unexpected(torn_->error);
    if (torn_) note_(torn_->place + ": this line was not finished, and is left out");
    torn_.reset();
    if (!read) {
        torn_ = Torn{place(), {ErrorKind::invalid, place(), read.error().why, {}}};
        return std::nullopt;
    }
    return std::move(*read);
}

Result<std::optional<TapeLooks::Line>> TapeLooks::read_line() {
    while (true) {
        if (!file_) {
            if (opened_ == files_.size()) return std::nullopt;
            if (auto opened = open_next(); !opened) return tl::unexpected(opened.error());
        }
        const auto line = file_->next();
        if (!line) return tl::unexpected(line.error());
        if (!*line) {
            if (auto ended = end_file(); !ended) return tl::unexpected(ended.error());
            continue;
        }
        if ((*line)->empty()) continue;
        auto read = read_one(**line);
        if (!read || *read) return read;
    }
}

Status TapeLooks::begin_part(const codec::TapeHeader& header) {
    if (last_look_ != 0 && last_started_ != header.started) {
        note_(place() + ": the agent was started again");
        last_look_ = 0;
    }
    header_ = header;
    last_started_ = header.started;
    part_begins_ = true;
    return {};
}

Result<std::optional<PlacedLook>> TapeLooks::next() {
    while (true) {
        auto line = read_line();
        if (!line) return tl::unexpected(line.error());
        if (!*line) return std::nullopt;
        if (const auto* header = std::get_if<codec::TapeHeader>(&**line)) {
            if (auto begun = begin_part(*header); !begun) return tl::unexpected(begun.error());
            continue;
        }
        PlacedLook placed{std::move(std::get<codec::TapeLook>(**line)), place(), false};
        const auto& look = placed.look;
        if (!header_)
            return fail(ErrorKind::invalid, placed.place, "a look before any header",
                        "name the older file first: FILE.1 FILE");
        if (part_begins_ && !(look.config && look.before))
            return fail(ErrorKind::invalid, placed.place, "the first look of a part lacks configuration or state");
        placed.follows = last_look_ != 0 && look.number == last_look_ + 1;
        if (!part_begins_ && !placed.follows)
            return fail(ErrorKind::invalid, placed.place,
                        fmt::format("look {} comes after look {}: lines are missing", look.number, last_look_));
        if (part_begins_ && last_look_ != 0 && look.number > last_look_ + 1)
            note_(fmt::format("{}: the looks between {} and {} were lost", placed.place, last_look_, look.number));
        if (look.number <= last_look_)
            return fail(ErrorKind::invalid, placed.place, "older than what was played before it",
                        "name the older file first: FILE.1 FILE");
        part_begins_ = false;
        last_look_ = look.number;
        return placed;
    }
}

}  // namespace evictd::replay

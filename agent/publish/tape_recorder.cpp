// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/tape_recorder.hpp"

#include <array>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/fd.hpp"
#include "sys/log.hpp"

namespace evictd::publish {
namespace {

// A file that something else wrote: to add to it or to rotate it away would be a loss.
bool is_something_else(const std::string& path) {
    const auto file = sys::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    struct stat opened {};
    if (!file || ::fstat(file->get(), &opened) != 0 || !S_ISREG(opened.st_mode)) return false;
    std::array<char, codec::tape_mark.size()> text{};
    const auto size = ::read(file->get(), text.data(), text.size());
    return size > 0 && !codec::tape_mark.starts_with(std::string_view(text.data(), static_cast<std::size_t>(size)));
}

}  // namespace

TapeRecorder::TapeRecorder(const TapeOptions& options, std::string version, std::string node, WallTime started)
    // Names of pods and of what runs in them are on it: not for everybody.
    : file_({options.path, options.max_size, options.max_files, 0600}),
      writer_(std::move(version), std::move(node), started) {}

Result<std::unique_ptr<TapeRecorder>> TapeRecorder::make(const TapeOptions& options, std::string version,
                                                         std::string node, WallTime started) {
    const auto what = "recording to " + options.path;
    if (is_something_else(options.path)) {
        return fail(ErrorKind::invalid, what, "the file exists and is not a tape", "name another one, or remove it");
    }
    auto recorder = std::make_unique<TapeRecorder>(options, std::move(version), std::move(node), started);
    const auto room = recorder->file_.make_room(0);
    if (!room) return fail(room.error().kind, what, room.error().why);
    return recorder;
}

void TapeRecorder::publish(const RecordPtr& record) {
    const auto* tick = std::get_if<Tick>(&*record);
    if (tick == nullptr || !tick->config || !tick->before) return;
    if (tick->number != last_look_ + 1) begin_part_ = true;
    const auto written = write(*tick);
    last_look_ = tick->number;
    config_ = tick->config;
    begin_part_ = !written;
    if (!written) {
        lose(written.error());
    } else if (losing_ > 0) {
        sys::log::info("tape: written again; " + std::to_string(losing_) + " looks were lost");
        losing_ = 0;
    }
}

Status TapeRecorder::write(const Tick& tick) {
    std::string line;
    if (!begin_part_) {
        line = writer_.look(tick, tick.config != config_);
        const auto file_is_new = file_.make_room(line.size());
        if (!file_is_new) return tl::unexpected(file_is_new.error());
        begin_part_ = *file_is_new;
    }
    if (begin_part_) {
        line = writer_.header(tick.observation.wall) + "\n";
        line += writer_.look(tick, true);
        const auto file_is_new = file_.make_room(line.size() + 1);
        // Whoever wrote to this file before may have been killed in the middle of a line.
        if (file_is_new && !*file_is_new) line.insert(0, "\n");
    }
    if (line.size() > codec::longest_tape_line) {
        return fail(ErrorKind::failed, "tape", "a look is longer than " + std::to_string(codec::longest_tape_line));
    }
    return file_.append(line);
}

void TapeRecorder::lose(const Error& error) {
    if (losing_ == 0) sys::log::warn("tape: " + error.text() + "; looks are lost until that ends");
    ++losing_;
    ++lost_;
}

}  // namespace evictd::publish

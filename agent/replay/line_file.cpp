// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/line_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace evictd::replay {
namespace {

// As much as a look of a busy node, so that most lines need one read.
constexpr std::size_t chunk = std::size_t{64} << 10U;

}  // namespace

Result<LineFile> LineFile::open(const std::string& path, std::size_t longest_line) {
    auto file = sys::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!file) return tl::unexpected(file.error());
    struct stat opened {};
    if (::fstat(file->get(), &opened) != 0) return sys::fail_errno(path, errno);
    if (!S_ISREG(opened.st_mode)) return fail(ErrorKind::invalid, path, "not a regular file");
    return LineFile(path, std::move(*file), longest_line);
}

Result<std::optional<std::string_view>> LineFile::next() {
    std::size_t searched = begin_;
    while (true) {
        const auto end = buffer_.find('\n', searched);
        if (end != std::string::npos || (is_over_ && begin_ < buffer_.size())) {
            has_end_ = end != std::string::npos;
            const std::string_view line =
                std::string_view(buffer_).substr(begin_, has_end_ ? end - begin_ : std::string::npos);
            begin_ = has_end_ ? end + 1 : buffer_.size();
            ++number_;
            return line;
        }
        if (is_over_) return std::nullopt;
        buffer_.erase(0, begin_);
        begin_ = 0;
        searched = buffer_.size();
        if (searched > longest_line_) {
            return fail(ErrorKind::invalid, path_ + ":" + std::to_string(number_ + 1),
                        "a line is longer than " + std::to_string(longest_line_) + " bytes");
        }
        buffer_.resize(searched + chunk);
        ssize_t got = 0;
        do {
            got = ::read(file_.get(), buffer_.data() + searched, chunk);
        } while (got < 0 && errno == EINTR);
        if (got < 0) return sys::fail_errno(path_, errno);
        buffer_.resize(searched + static_cast<std::size_t>(got));
        is_over_ = got == 0;
    }
}

}  // namespace evictd::replay

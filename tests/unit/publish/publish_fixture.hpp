// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Files as text, a clock that is late, and raw clients of a socket.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <sys/socket.h>

#include "evictd/model/record.hpp"
#include "fakes/temp_dir.hpp"
#include "publish/unix_address.hpp"
#include "sys/clock.hpp"
#include "sys/fd.hpp"

namespace evictd::publish {

inline std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<std::string> lines_of(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

// The real monotonic time, `lag` behind, so that deadlines shorter than it have passed at once; the wall stands still.
class LaggingClock final : public sys::Clock {
public:
    explicit LaggingClock(Duration lag, WallTime wall = {}) : lag_(lag), wall_(wall) {}
    [[nodiscard]] MonotonicTime monotonic() const override { return real_.monotonic() - lag_; }
    [[nodiscard]] WallTime wall() const override { return wall_; }
    [[nodiscard]] Duration thread_cpu() const override { return real_.thread_cpu(); }

private:
    sys::SystemClock real_;
    Duration lag_;
    WallTime wall_;
};

template <class R>
RecordPtr shared(R record) {
    return std::make_shared<const Record>(std::move(record));
}

inline RecordPtr notice(const std::string& message, WallTime wall = {}) {
    return shared(AgentNotice{Notice::config_reloaded, wall, message, ""});
}

inline sys::Fd connect_raw(const std::string& path) {
    sys::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto address = unix_address(path);
    if (!address || ::connect(socket.get(), generic(*address), sizeof(*address)) != 0) socket.reset();
    return socket;
}

inline void send_raw(const sys::Fd& socket, const std::string& text) {
    [[maybe_unused]] const auto sent = ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

// All until the other end closes.
inline std::string receive_all(const sys::Fd& socket) {
    std::string text;
    std::vector<char> chunk(65536);
    for (ssize_t got = 1; got > 0;) {
        got = ::recv(socket.get(), chunk.data(), chunk.size(), 0);
        if (got > 0) text.append(chunk.data(), static_cast<std::size_t>(got));
    }
    return text;
}

}  // namespace evictd::publish

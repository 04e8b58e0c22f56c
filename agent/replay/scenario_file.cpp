// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/scenario_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "replay/scenario.hpp"
#include "sys/fd.hpp"

namespace evictd::replay {
namespace {

config::Fault unreadable(const std::string& name, int error) {
    std::string remedy = "give a readable file";
    if (error == ENOENT) remedy = "check the path";
    if (error == EISDIR) remedy = "name the file in it";
    const bool denied = error == EACCES || error == EPERM;
    if (denied) remedy = "let this user read it";
    return {name,
            0,
            0,
            {},
            std::string("cannot be read: ") + std::strerror(error),
            remedy,
            denied ? ErrorKind::not_permitted : ErrorKind::failed};
}

}  // namespace

tl::expected<ScenarioFile, config::Fault> read_scenario_file(const std::string& path) {
    constexpr std::size_t chunk = std::size_t{256} << 10U;
    ScenarioFile file{path == "-" ? "standard input" : path, {}};
    const sys::Fd opened(path == "-" ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (path != "-" && opened.get() < 0) return tl::unexpected(unreadable(file.name, errno));
    const int fd = path == "-" ? STDIN_FILENO : opened.get();
    while (file.text.size() <= max_scenario_size) {
        const std::size_t before = file.text.size();
        const std::size_t room = std::min(chunk, max_scenario_size + 1 - before);
        file.text.resize(before + room);
        const ssize_t got = ::read(fd, file.text.data() + before, room);
        const int error = errno;
        file.text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got == 0) break;
        if (got < 0 && error != EINTR) return tl::unexpected(unreadable(file.name, error));
    }
    return file;
}

}  // namespace evictd::replay

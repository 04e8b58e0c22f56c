// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/socket_path.hpp"

#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "publish/unix_address.hpp"
#include "sys/clock.hpp"
#include "sys/fd.hpp"
#include "sys/lock_file.hpp"
#include "sys/process_state.hpp"

namespace evictd::publish {
namespace {

constexpr Duration pause_between_looks = std::chrono::milliseconds(5);

// The process that listens, 0 where it is not known; none: no process does.
Result<std::optional<pid_t>> listener_of(const std::string& what, const sockaddr_un& address) {
    const sys::Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!probe) return sys::fail_errno(what, errno);
    // EAGAIN: its queue is full, so another process listens.
    if (::connect(probe.get(), generic(address), sizeof(address)) == 0 || errno == EAGAIN) {
        ucred peer{};
        socklen_t size = sizeof(peer);
        const bool known = ::getsockopt(probe.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
        return std::optional(known ? peer.pid : 0);
    }
    if (errno == ECONNREFUSED || errno == ENOENT) return std::nullopt;
    return sys::fail_errno(what, errno);
}

// What a dead process listens on answers until its last thread has left the kernel.
Status await_silence(const std::string& what, const sockaddr_un& address) {
    const sys::SystemClock clock;
    const auto end = clock.monotonic() + sys::patience_with_the_dying;
    while (true) {
        const auto listener = listener_of(what, address);
        if (!listener) return tl::unexpected(listener.error());
        if (!*listener) return {};
        const auto state = sys::state_of(**listener);
        if (state == sys::ProcessState::running) {
            return fail(ErrorKind::unreachable, what,
                        "another evictd listens there" + (**listener > 0 ? ", pid " + std::to_string(**listener) : ""),
                        "end it first, or give this one another socket path");
        }
        if (state == sys::ProcessState::gone || clock.monotonic() >= end) return {};
        std::this_thread::sleep_for(pause_between_looks);
    }
}

}  // namespace

Result<bool> clear_socket(const std::string& path) {
    const std::string what = "status socket " + path;
    const auto address = unix_address(path);
    if (!address) return tl::unexpected(address.error());
    struct stat there {};
    if (::lstat(path.c_str(), &there) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return false;
        return sys::fail_errno(what, errno);
    }
    if (!S_ISSOCK(there.st_mode))
        return fail(ErrorKind::failed, what, "a file of another kind is in the way", "move it away");
    if (auto silent = await_silence(what, *address); !silent) return tl::unexpected(silent.error());
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return sys::fail_errno(what, errno);
    return true;
}

}  // namespace evictd::publish

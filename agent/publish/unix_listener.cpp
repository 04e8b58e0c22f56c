// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/unix_listener.hpp"

#include <cerrno>
#include <utility>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "publish/socket_path.hpp"
#include "publish/unix_address.hpp"
#include "sys/file.hpp"

namespace evictd::publish {

Result<UnixListener> UnixListener::make(const std::string& what, const std::string& path) {
    const auto address = unix_address(path);
    if (!address) return tl::unexpected(address.error());
    if (const auto slash = path.rfind('/'); slash != std::string::npos && slash > 0) {
        if (auto made = sys::make_directories(path.substr(0, slash), 0700); !made) return tl::unexpected(made.error());
    }
    if (auto clear = clear_socket(path); !clear) return tl::unexpected(clear.error());
    sys::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return sys::fail_errno(what, errno);
    // The mode of the unbound socket is what bind() gives the file: there is no moment in which others may connect.
    struct stat bound {};
    if (::fchmod(socket.get(), 0600) != 0 || ::bind(socket.get(), generic(*address), sizeof(*address)) != 0 ||
        ::stat(path.c_str(), &bound) != 0 || ::listen(socket.get(), SOMAXCONN) != 0) {
        return sys::fail_errno(what, errno);
    }
    return UnixListener(path, std::move(socket), bound.st_dev, bound.st_ino);
}

UnixListener::~UnixListener() {
    struct stat there {};
    const bool ours =
        socket_ && ::lstat(path_.c_str(), &there) == 0 && there.st_dev == device_ && there.st_ino == inode_;
    if (ours) ::unlink(path_.c_str());
}

bool is_permitted_peer(int connection) {
    ucred peer{};
    socklen_t size = sizeof(peer);
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
    return peer.uid == 0 || peer.uid == ::geteuid();
}

}  // namespace evictd::publish

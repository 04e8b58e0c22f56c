// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A listening unix socket to which only root and this program's own user may connect. What is said there is its
// owner's.
#pragma once

#include <string>

#include <sys/types.h>

#include "evictd/model/result.hpp"
#include "sys/fd.hpp"

namespace evictd::publish {

class UnixListener {
public:
    // `what` names it in errors. Its directory is made with mode 0700. A socket of a dead process is removed; an
    // error: another process listens there.
    static Result<UnixListener> make(const std::string& what, const std::string& path);
    UnixListener(UnixListener&&) = default;
    UnixListener& operator=(UnixListener&&) = delete;
    UnixListener(const UnixListener&) = delete;
    UnixListener& operator=(const UnixListener&) = delete;
    ~UnixListener();  // removes the file, if it still is this one

    [[nodiscard]] int get() const { return socket_.get(); }

private:
    UnixListener(std::string path, sys::Fd socket, dev_t device, ino_t inode)
        : path_(std::move(path)), socket_(std::move(socket)), device_(device), inode_(inode) {}

    std::string path_;
    sys::Fd socket_;
    dev_t device_;
    ino_t inode_;
};

// The kernel's word on the peer of a connection: root, or the user that this program runs as.
[[nodiscard]] bool is_permitted_peer(int connection);

}  // namespace evictd::publish

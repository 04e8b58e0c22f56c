// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is free on the node's filesystems. Asking may take as long as a dead mount is dead; reading what was heard last
// takes no time.
#pragma once

#include <string>

#include "evictd/model/filesystem.hpp"
#include "evictd/model/units.hpp"

namespace evictd::port {

// A directory in each. Empty: not known, or there is none.
struct FilesystemPaths {
    std::string nodefs;  // the kubelet's root; where that is not there, the root directory is asked
    std::string imagefs;
    std::string containerfs;  // empty: with the images
};

class Filesystems {
public:
    Filesystems() = default;
    Filesystems(const Filesystems&) = delete;
    Filesystems& operator=(const Filesystems&) = delete;
    virtual ~Filesystems() = default;

    // All are thread-safe, and none waits for a filesystem.
    [[nodiscard]] virtual FilesystemsView newest() const = 0;
    // Each is asked now, and then at its pace again.
    virtual void ask() = 0;
    // How often each is asked from now on. One that does not answer is not asked a second time.
    virtual void set_pace(Duration pace) = 0;
    // What the runtime says of its directories may come late. Not from the thread that decides: it may wait for a
    // second. What was heard of a path that stays the same is kept. False: one of them cannot be asked, for want of a
    // thread or a descriptor; the next call tries it again.
    [[nodiscard]] virtual bool set_paths(const FilesystemPaths& paths) = 0;
};

}  // namespace evictd::port

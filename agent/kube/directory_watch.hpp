// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// inotify on one directory that may not exist yet, go away and come back. Says which names changed, reads no files.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "evictd/model/result.hpp"
#include "sys/fd.hpp"

struct inotify_event;

namespace evictd::kube {

class DirectoryWatch {
public:
    // `directory` is absolute. Fails where the user's inotify instances are used up.
    static Result<DirectoryWatch> make(std::string directory);

    [[nodiscard]] int fd() const { return inotify_.get(); }

    // Watches the directory and those above it, for it and its parents to appear, go and be replaced. To be called
    // before each listing: what changes afterwards is then an event.
    Status renew();

    struct Changes {
        bool any = false;                // list the directory again
        bool lost = false;               // the kernel's queue overflowed: every name may have changed
        std::set<std::string> complete;  // written and closed, renamed to, or removed
        std::set<std::string> begun;     // made or being written; not closed yet
    };
    // Empties the queue without waiting.
    Changes read();

private:
    DirectoryWatch(sys::Fd inotify, std::string directory);
    void take(const inotify_event& event, Changes& changes) const;

    sys::Fd inotify_;
    std::string directory_;
    std::map<int, std::string> watched_;  // watch descriptor -> the one name that matters there; empty: all names do
};

}  // namespace evictd::kube

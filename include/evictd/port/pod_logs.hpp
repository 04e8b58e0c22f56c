// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The logs of containers on disk, as far as garbage collection needs them: which there are, and removing one. It
// decides nothing.
#pragma once

#include <string>
#include <vector>

#include "evictd/model/garbage.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"

namespace evictd::port {

struct PodLog {
    std::string directory;  // NAMESPACE_NAME_UID below /var/log/pods
    std::string container;  // its name, as the directory of its logs is called
    std::string path;
    Bytes size;  // allocated on disk
};

struct PodLogLink {
    std::string path;       // below /var/log/containers
    std::string container;  // the id that its name ends in; empty: it is named in another way
    bool dangling = false;  // its target was looked for where it would be, and is not there
};

struct PodLogList {
    std::vector<std::string> directories;
    std::vector<PodLogLink> links;
    // That the runtime does not write to any more. Of one pod the first 65,536 entries are read: what is beyond stays,
    // and is no trouble, which would keep all others' too.
    std::vector<PodLog> rotated;
    // Not empty: something could not be read to its end, and what is not listed may be there.
    std::string trouble{};
};

// For a thread that may block.
class PodLogs {
public:
    PodLogs() = default;
    PodLogs(const PodLogs&) = delete;
    PodLogs& operator=(const PodLogs&) = delete;
    virtual ~PodLogs() = default;

    [[nodiscard]] virtual PodLogList list() = 0;
    // A log directory by its name, a link or a rotated log by its path, as list() has them. Never a file that is
    // written to, nothing behind a symbolic link and nothing below a mount point. Errors: `vanished` (it is not there),
    // `invalid` (it is no such thing, or has become another), `failed`: some of it may have gone. One that is too large
    // to go at once fails, and goes on with the next call.
    [[nodiscard]] virtual Status remove(GarbageKind kind, const std::string& id) = 0;
};

}  // namespace evictd::port

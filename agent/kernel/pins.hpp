// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The directory of pinned maps and links on the BPF filesystem. What is in it belongs to one agent; the next one
// replaces what a dead one left. A BPF filesystem is mounted with mode 1777 by default, so anybody may have put
// something there before: the directory must be root's alone, and only pins that are ours by name and kind are removed.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "evictd/model/result.hpp"
#include "sys/fd.hpp"
#include "sys/lock_file.hpp"

namespace evictd::kernel {

enum class PinKind { map, link };

struct Pin {
    int fd = -1;       // of a map or a link
    std::string name;  // below the directory; a link's: below `links`
    PinKind kind = PinKind::map;
};

// The open directory, what keeps other agents out of it, and what was pinned there.
struct PinDirectory {
    std::string path;
    sys::Fd maps;
    sys::Fd links;
    sys::LockFile claim;
    std::vector<Pin> pinned{};
};

// Mounts the BPF filesystem at /sys/fs/bpf if nothing is there, as bpftool and systemd do, makes `path` and
// `path`/links (0700), and removes pins that a dead agent left. Refuses a directory that others may change, one on
// another file system, the mount point itself (`invalid`), and one that a living agent uses (`unreachable`).
[[nodiscard]] Result<PinDirectory> prepare_pins(const std::string& path);

// Stops at the first that the kernel refuses.
[[nodiscard]] Status pin_at(PinDirectory& directory, std::span<const Pin> pins);
// Removes what was pinned, and the directories if they are empty then. Needs no right to use BPF.
void remove_pins(const PinDirectory& directory);

struct RemovedPins {
    std::vector<std::string> removed;  // "thresholds", "links/on_oom_kill"
    std::vector<std::string> foreign;  // what is not ours, and stays
    std::vector<Error> failed;         // of what it is not known whose it is, or what cannot be removed; it stays
};
// Removes what an agent that was killed left at `path`, and makes nothing. `vanished`: there is no such directory;
// other errors as above.
[[nodiscard]] Result<RemovedPins> remove_left_pins(const std::string& path);

}  // namespace evictd::kernel

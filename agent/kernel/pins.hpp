// SPDX-License-Identifier: Apache-2.0
// The directory of pinned maps and links on the BPF filesystem. What is in it belongs to one agent; the next one
// replaces what a dead one left.
#pragma once

#include <span>
#include <string>

#include "evictd/model/result.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {

// Mounts the BPF filesystem at /sys/fs/bpf if nothing is there, as bpftool and systemd do, makes `path` and
// `path`/links, and removes stale pins. What it returns keeps others out; an agent that is alive keeps us out.
[[nodiscard]] Result<sys::Fd> prepare_pins(const std::string& path);

struct Pin {
    int fd = -1;       // of a map or a link
    std::string name;  // below the directory
};
// Stops at the first that the kernel refuses.
[[nodiscard]] Status pin_at(const std::string& path, std::span<const Pin> pins);

// Removes what prepare_pins() and pinning made. Nothing else: a foreign directory is left alone.
void remove_pins(const std::string& path);

}  // namespace evictd::kernel

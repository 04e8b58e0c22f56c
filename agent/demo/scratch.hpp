// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The demo's own directory, private and gone afterwards; and what a demo that was killed left behind, by its name.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"

namespace evictd::demo {

// "evictd-demo-123": how everything the demo makes is called, so that it and nothing else is cleaned up.
[[nodiscard]] std::string demo_name(pid_t pid);
// The pid in such a name, also with mkdtemp's ".XXXXXX" behind it. None: it is not a demo's.
[[nodiscard]] std::optional<pid_t> demo_pid(const std::string& name);
// A demo's name, and that demo runs no more.
[[nodiscard]] bool is_leftover(const std::string& name);

class Scratch {
public:
    // In TMPDIR, /var/tmp or /tmp. With `room` above 0 only where files have a page cache (not a tmpfs) and that much
    // space is left twice over.
    static Result<Scratch> make(Bytes room);
    Scratch(Scratch&& other) noexcept;
    Scratch& operator=(Scratch&&) = delete;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch();

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    explicit Scratch(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

// Directories of demos that run no more, in all places where one might be. Only root's own are touched.
void remove_leftover_directories();
// Below a bpffs: "/sys/fs/bpf".
void remove_leftover_pins(const std::string& bpffs);

}  // namespace evictd::demo

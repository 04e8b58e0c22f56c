// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What runs in the demo's pods: takes real memory, or fills the page cache, when its parent says so. Speaks one byte a
// step over stdin and stdout; ends when stdin does.
#pragma once

#include <cstdint>
#include <string>

#include "evictd/model/units.hpp"

namespace evictd::demo {

// The parent says it on stdin.
inline constexpr char order_hold = 'h';  // you are in your cgroup: take what you hold
inline constexpr char order_act = 'g';   // grow, or write files
// The process says it on stdout.
inline constexpr char said_started = 's';
inline constexpr char said_holding = 'r';   // all it holds is touched
inline constexpr char said_outside = 'x';   // it is not in its cgroup, so it ends rather than take anything
inline constexpr char said_filled = 'f';    // all files were written and read once
inline constexpr char said_asked = 't';     // SIGTERM came; it shuts down
inline constexpr char said_refused = 'e';   // socket(2) gave EPERM, the first time or, opening them idly, every time
inline constexpr char said_opened = 'o';    // it got a socket after it was refused one; opening them idly: ten more
inline constexpr char said_no_files = 'n';  // the files cannot be written

struct PodProcessOptions {
    std::string cgroup;  // where it must be before it takes anything
    std::int64_t hold_mib = 0;
    bool grows = false;
    std::int64_t mib_per_second = 0;  // 0: as fast as it goes
    std::int64_t grow_to_mib = 0;     // and never further
    int processes = 1;                // that share what is held and what is grown to
    std::string files;                // directory to write and read files in
    std::int64_t files_mib = 0;
    std::string reread;            // directory to make files in, and to read them again and again
    bool connects = false;         // grows by a socket and a mebibyte at a time; refused one, it gives all back
    bool opens_sockets = false;    // and closes them again, a hundred a second
    std::int64_t shutdown_ms = 0;  // how long it takes to end after SIGTERM
};

// The exit status.
[[nodiscard]] int run_pod_process(const PodProcessOptions& options);

// /proc/self/cgroup has this path in the hierarchy with the memory controller. The text is passed for tests.
[[nodiscard]] bool is_inside(const std::string& proc_cgroup, const std::string& path);

}  // namespace evictd::demo

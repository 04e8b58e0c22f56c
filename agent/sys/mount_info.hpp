// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// /proc/PID/mountinfo, as proc(5) has it.
#pragma once

#include <functional>
#include <string_view>

namespace evictd::sys {

// As they are written there: a blank in a path is "\040".
struct MountInfo {
    std::string_view id;      // as statx(2)'s stx_mnt_id
    std::string_view device;  // "MAJOR:MINOR"; of a cgroup mount: the hierarchy
    std::string_view root;    // what of the filesystem is shown
    std::string_view place;   // where
    std::string_view type;    // of the filesystem
};

// Each line of the text `mountinfo`, until `visit` returns false. What is no such line is passed over.
void each_mount(std::string_view mountinfo, const std::function<bool(const MountInfo&)>& visit);

}  // namespace evictd::sys

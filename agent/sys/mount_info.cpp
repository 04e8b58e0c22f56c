// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/mount_info.hpp"

#include <algorithm>

namespace evictd::sys {
namespace {

// Up to `end`, which is taken off too.
std::string_view take(std::string_view& text, char end) {
    const auto taken = text.substr(0, text.find(end));
    text.remove_prefix(std::min(taken.size() + 1, text.size()));
    return taken;
}

}  // namespace

// "36 35 0:29 /root /place options [optional fields] - type source options"
void each_mount(std::string_view mountinfo, const std::function<bool(const MountInfo&)>& visit) {
    constexpr std::string_view end_of_options = " - ";
    while (!mountinfo.empty()) {
        auto line = take(mountinfo, '\n');
        const auto options_end = line.find(end_of_options);
        if (options_end == std::string_view::npos) continue;
        auto rest = line.substr(options_end + end_of_options.size());
        MountInfo mount;
        mount.id = take(line, ' ');
        (void)take(line, ' ');  // its parent
        mount.device = take(line, ' ');
        mount.root = take(line, ' ');
        mount.place = take(line, ' ');
        mount.type = take(rest, ' ');
        if (!visit(mount)) return;
    }
}

}  // namespace evictd::sys

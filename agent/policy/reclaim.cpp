// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// buildSignalToNodeReclaimFuncs as the table it is. A new signal is a new row.
#include "reclaim.hpp"

#include <algorithm>
#include <array>

namespace evictd::policy {
namespace {

enum class Gives : std::uint8_t { nothing, containers, images, both };

struct ReclaimRow {
    Signal signal;
    Gives single;
    Gives dedicated;
    Gives split;
};
constexpr std::array<ReclaimRow, 7> reclaim_rows{{
    {Signal::nodefs_available, Gives::both, Gives::nothing, Gives::containers},
    {Signal::nodefs_inodes_free, Gives::both, Gives::nothing, Gives::containers},
    {Signal::imagefs_available, Gives::both, Gives::both, Gives::images},
    {Signal::imagefs_inodes_free, Gives::both, Gives::both, Gives::images},
    {Signal::containerfs_available, Gives::both, Gives::both, Gives::containers},
    {Signal::containerfs_inodes_free, Gives::both, Gives::both, Gives::containers},
    {Signal::allocatable_nodefs_available, Gives::both, Gives::nothing, Gives::containers},
}};

// Logs are on the filesystem of nodefs.
bool holds_logs(Signal signal, FsLayout layout) {
    switch (signal) {
        case Signal::nodefs_available:
        case Signal::nodefs_inodes_free:
        case Signal::allocatable_nodefs_available:
            return true;
        case Signal::containerfs_available:
        case Signal::containerfs_inodes_free:
            return layout != FsLayout::dedicated_image_fs;
        case Signal::imagefs_available:
        case Signal::imagefs_inodes_free:
            return layout != FsLayout::dedicated_image_fs && layout != FsLayout::split;
        default:
            return false;
    }
}

}  // namespace

std::vector<NodeReclaim> reclaim_for(Signal signal, FsLayout layout, ReclaimedLogs logs) {
    std::vector<NodeReclaim> reclaim;
    const auto* const row = std::find_if(reclaim_rows.begin(), reclaim_rows.end(),
                                         [&](const ReclaimRow& candidate) { return candidate.signal == signal; });
    if (row == reclaim_rows.end()) return reclaim;
    const Gives gives = layout == FsLayout::dedicated_image_fs ? row->dedicated
                        : layout == FsLayout::split            ? row->split
                                                               : row->single;
    if (gives == Gives::containers || gives == Gives::both) reclaim.push_back(NodeReclaim::containers);
    if (gives == Gives::images || gives == Gives::both) reclaim.push_back(NodeReclaim::images);
    if (logs != ReclaimedLogs::off && holds_logs(signal, layout)) reclaim.push_back(NodeReclaim::logs);
    return reclaim;
}

}  // namespace evictd::policy

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

constexpr std::array both{NodeReclaim::containers, NodeReclaim::images};

}  // namespace

std::span<const NodeReclaim> reclaim_for(Signal signal, FsLayout layout) {
    const auto* const row = std::find_if(reclaim_rows.begin(), reclaim_rows.end(),
                                         [&](const ReclaimRow& candidate) { return candidate.signal == signal; });
    if (row == reclaim_rows.end()) return {};
    const Gives gives = layout == FsLayout::dedicated_image_fs ? row->dedicated
                        : layout == FsLayout::split            ? row->split
                                                               : row->single;
    switch (gives) {
        case Gives::nothing:
            return {};
        case Gives::containers:
            return std::span(both).first(1);
        case Gives::images:
            return std::span(both).last(1);
        case Gives::both:
            return both;
    }
    return {};
}

}  // namespace evictd::policy

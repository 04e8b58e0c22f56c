// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/filesystem_readings.hpp"

#include "evictd/model/signal.hpp"

namespace evictd::observe {
namespace {

struct SignalsOf {
    Signal available;
    Signal inodes_free;
};
// By NodeFilesystem.
constexpr std::array<SignalsOf, node_filesystem_count> signals_of{{
    {Signal::nodefs_available, Signal::nodefs_inodes_free},
    {Signal::imagefs_available, Signal::imagefs_inodes_free},
    {Signal::containerfs_available, Signal::containerfs_inodes_free},
}};

}  // namespace

void add_filesystems(const FilesystemsView& filesystems, Observation& observation) {
    observation.fs_layout = filesystems.layout;
    auto& readings = observation.readings;
    for (std::size_t i = 0; i < node_filesystem_count; i++) {
        const auto& reading = filesystems.of.at(i).reading;
        if (!reading) continue;
        const auto& signals = signals_of.at(i);
        readings.at(static_cast<std::size_t>(signals.available)) =
            Reading{.available = {reading->available.value}, .capacity = {reading->capacity.value}, .at = reading->at};
        if (reading->inodes_free && reading->inodes) {
            readings.at(static_cast<std::size_t>(signals.inodes_free)) =
                Reading{.available = {*reading->inodes_free}, .capacity = {*reading->inodes}, .at = reading->at};
        }
    }
}

}  // namespace evictd::observe

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The disk signals of makeSignalObservations, of what the filesystems answered last.
#pragma once

#include "evictd/model/filesystem.hpp"
#include "evictd/model/observation.hpp"

namespace evictd::observe {

// A filesystem that is not known has no reading; one that counts no inodes has none of them.
void add_filesystems(const FilesystemsView& filesystems, Observation& observation);

}  // namespace evictd::observe

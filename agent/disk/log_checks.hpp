// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is looked at before a rotated log or a link to a log counts as left over. In doubt it does not.
#pragma once

#include <string>

#include <sys/stat.h>

#include "evictd/model/units.hpp"

namespace evictd::disk {

// The kubelet renames a log and asks the runtime to open it anew; between the two, and for as long as the runtime does
// not answer, the runtime writes to the file that has the name of a rotated one. False only if the live log is beside
// it, as another regular file, and was made or written to after the last write to this one, or that was a minute ago.
// `status`: of the file `rotated` in `directory`. Half a minute is within a kubelet's own pause (10 s between two looks
// at sizes); with two, logs that were just compressed are kept longer for nothing.
[[nodiscard]] bool may_be_written_to(int directory, const std::string& rotated, const struct stat& status,
                                     WallTime now);

// Whether the link `name` in `links` points below the directory `pods_path`, which is open as `pods`, and to nothing
// there. A target elsewhere is not judged: in a container that directory may not be mounted, or be another one's. For
// the same reason `pods` counts only if a directory is in it: an image may have an empty one.
[[nodiscard]] bool leads_nowhere(int links, const std::string& name, const std::string& pods_path, int pods);
[[nodiscard]] bool has_a_directory(int directory);

}  // namespace evictd::disk

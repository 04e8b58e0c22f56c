// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the names of log directories, rotated logs and log links say, as the kubelet makes and reads them. Names only:
// whether such a file is there, and what it is, is not known here.
#pragma once

#include <string>
#include <string_view>

namespace evictd {

// One step below a directory, and no other way: not empty, not "." or "..", without "/" and NUL.
[[nodiscard]] bool is_plain_name(std::string_view name);

// parsePodUIDFromLogsDirectory: what follows the last "_" of NAMESPACE_NAME_UID, or all of it.
[[nodiscard]] std::string pod_of_log_directory(std::string_view name);

// getContainerIDFromLegacyLogSymlink: what is between the last "-" and ".log". Empty: the name is of another form.
[[nodiscard]] std::string container_of_log_link(std::string_view name);

// rotateLog of kubelet/logs: "0.log.20261125-150405", also with ".gz", is the rotated log of "0.log", which is
// returned. Empty: it is none. One that ends in ".tmp" is being compressed.
[[nodiscard]] std::string_view live_log_of(std::string_view rotated);
[[nodiscard]] inline bool is_rotated_log(std::string_view name) { return !live_log_of(name).empty(); }

// The directory and the name of a path. Without "/" the directory is empty.
struct PathParts {
    std::string_view directory;
    std::string_view name;
};
[[nodiscard]] PathParts parts_of_path(std::string_view path);

}  // namespace evictd

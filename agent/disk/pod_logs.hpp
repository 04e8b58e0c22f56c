// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kubelet's log directories and links, listed and removed below directory handles. Pods write the contents of logs
// but not their names; what lies there is not trusted all the same. How much logs take is the survey's.
#pragma once

#include <chrono>
#include <string>

#include "evictd/model/units.hpp"
#include "evictd/port/pod_logs.hpp"

namespace evictd::disk {

struct LogDirectories {
    std::string pods = "/var/log/pods";         // podLogsRootDirectory
    std::string links = "/var/log/containers";  // legacyContainerLogsDir
};

class PodLogs final : public port::PodLogs {
public:
    // Of one directory: a pod may have made it as large as it likes, and other garbage waits behind it. Some 400,000
    // files; half of it is less than a busy disk removes of what an ordinary pod leaves, twice as much is a third of a
    // reclaim.
    static constexpr Duration longest_removal = std::chrono::seconds(5);

    explicit PodLogs(LogDirectories directories, Duration longest = longest_removal)
        : directories_(std::move(directories)), longest_removal_(longest) {}

    [[nodiscard]] port::PodLogList list() override;
    [[nodiscard]] Status remove(GarbageKind kind, const std::string& id) override;

private:
    [[nodiscard]] Status remove_directory(const std::string& name) const;
    [[nodiscard]] Status remove_link(const std::string& path) const;
    [[nodiscard]] Status remove_rotated(const std::string& path) const;

    LogDirectories directories_;
    Duration longest_removal_;
};

}  // namespace evictd::disk

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kubelet's log directories and links, listed and removed below directory handles. Pods write the contents of logs
// but not their names; what lies there is not trusted all the same. How much logs take is the survey's.
#pragma once

#include <string>

#include "evictd/port/pod_logs.hpp"

namespace evictd::disk {

struct LogDirectories {
    std::string pods = "/var/log/pods";         // podLogsRootDirectory
    std::string links = "/var/log/containers";  // legacyContainerLogsDir
};

class PodLogs final : public port::PodLogs {
public:
    explicit PodLogs(LogDirectories directories) : directories_(std::move(directories)) {}

    [[nodiscard]] port::PodLogList list() override;
    [[nodiscard]] Status remove(GarbageKind kind, const std::string& id) override;

private:
    [[nodiscard]] Status remove_directory(const std::string& name) const;
    [[nodiscard]] Status remove_link(const std::string& path) const;
    [[nodiscard]] Status remove_rotated(const std::string& path) const;

    LogDirectories directories_;
};

}  // namespace evictd::disk

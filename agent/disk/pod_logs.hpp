// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kubelet's log directories and links, listed and removed below directory handles. Pods write the contents of logs
// but not their names; what lies there is not trusted all the same. How much logs take is the survey's.
#pragma once

#include <string>
#include <string_view>

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

// Whether a log of this name was rotated away: "0.log.20261125-150405", also with ".gz" (rotateLog of
// kubelet/logs). The live one is "0.log"; one that ends in ".tmp" is being compressed.
[[nodiscard]] bool is_rotated_log(std::string_view name);
// getContainerIDFromLegacyLogSymlink: what is between the last "-" and ".log". Empty: the name is of another form.
[[nodiscard]] std::string container_of_link(std::string_view name);

}  // namespace evictd::disk

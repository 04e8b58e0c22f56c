// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Asks the node's filesystems, each path in a thread of its own: one that does not answer holds up that thread alone,
// is asked once, and answers when it lives again.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "disk/filesystem_reading.hpp"
#include "evictd/model/result.hpp"
#include "evictd/port/filesystems.hpp"
#include "sys/clock.hpp"
#include "sys/pi_mutex.hpp"

namespace evictd::disk {

class Filesystems final : public port::Filesystems {
public:
    // Half of it would call slow disks dead, and twice as much would decide on figures of two seconds ago.
    static constexpr Duration default_deadline = std::chrono::seconds(1);
    // The kubelet's own (evictionMonitoringPeriod).
    static constexpr Duration default_pace = std::chrono::seconds(10);

    struct Options {
        Duration deadline = default_deadline;  // no answer by then: unknown
        Duration pace = default_pace;
        std::function<Result<FilesystemReading>(const std::string& path)> read = read_filesystem;
        // Called in the thread of a path after each answer that came. It may not wait, and may outlive this object in a
        // thread that is left behind, so it owns what it uses. Empty: not called.
        std::function<void(const FilesystemReading&)> on_reading{};
    };

    // `clock` must outlive the program's threads.
    Filesystems(const port::FilesystemPaths& paths, const sys::Clock& clock, Options options);
    Filesystems(const port::FilesystemPaths& paths, const sys::Clock& clock) : Filesystems(paths, clock, Options{}) {}
    Filesystems(const Filesystems&) = delete;
    Filesystems& operator=(const Filesystems&) = delete;
    // Waits for a thread that hangs for a second.
    ~Filesystems() override;

    [[nodiscard]] FilesystemsView newest() const override;
    void ask() override;
    void set_pace(Duration pace) override;
    [[nodiscard]] bool set_paths(const port::FilesystemPaths& paths) override;

private:
    class Asked;
    using AskedPtr = std::shared_ptr<Asked>;  // of nodefs and imagefs, if they have one path
    struct Row {
        AskedPtr asked;      // null: no path, or
        std::string failed;  // why there is no thread for it
    };
    using Rows = std::array<Row, node_filesystem_count>;

    [[nodiscard]] Row row_for(const std::string& path, NodeFilesystem which, const Rows& others) const;

    const sys::Clock& clock_;
    Options options_;
    mutable sys::PiMutex mutex_;  // all below are under it
    Duration pace_;
    Rows rows_;
};

}  // namespace evictd::disk

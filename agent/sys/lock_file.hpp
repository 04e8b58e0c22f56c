// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Exclusive locks between agents. They are files in a directory that only root can enter, so that no other user can
// take one. A lock ends with its process however that ends; the lock of a process that is dead does not count.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"
#include "sys/fd.hpp"
#include "sys/process_state.hpp"

namespace evictd::sys {

// The same for every agent on a host, whatever its configuration says: two agents with different configurations must
// exclude each other too.
inline constexpr const char* lock_directory = "/run/evictd/locks";

// How long a killed agent may take to leave the kernel: to free locked memory and to detach BPF programs takes tens of
// milliseconds, on an overloaded node seconds. Longer would leave the node unwatched, shorter would share it.
inline constexpr Duration patience_with_the_dying = std::chrono::seconds(5);

struct LockRequest {
    std::string name;    // of the file
    std::string object;  // what is locked, for messages
    std::string holder;  // "another evictd works on these pods"
    std::string remedy;
    Duration patience = patience_with_the_dying;  // 0: does not wait at all
    // A child that was forked with the lock may still use what is locked, after its parent has died: wait for it, too,
    // and never take the lock away.
    bool is_shared_with_children = false;
};

class LockFile {
public:
    // Waits for a holder that is ending, and takes the lock of one that is dead. `unreachable`: a running process holds
    // it, which may pass.
    static Result<LockFile> take(const LockRequest& request, const std::string& directory = lock_directory);
    LockFile(LockFile&& other) noexcept = default;
    LockFile& operator=(LockFile&& other) noexcept;
    LockFile(const LockFile&) = delete;
    LockFile& operator=(const LockFile&) = delete;
    ~LockFile() { release(); }

    // Removes the file and gives the lock up.
    void release();

private:
    LockFile(Fd directory, Fd file, std::string name)
        : directory_(std::move(directory)), file_(std::move(file)), name_(std::move(name)) {}
    static Result<std::optional<LockFile>> try_once(const LockRequest& request, const std::string& directory,
                                                    bool is_patient);

    Fd directory_;
    Fd file_;
    std::string name_;
};

}  // namespace evictd::sys

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Intents in memory that outlives the agent: a file on tmpfs, allocated, mapped and locked before it is needed, so that
// noting one needs no allocation, no disk and a few microseconds. The kill path writes it, one other thread clears it.
// Not for a reboot: IntentWriter's thread copies it to the state directory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "evictd/model/result.hpp"
#include "reconcile/intent.hpp"
#include "sys/fd.hpp"

namespace evictd::reconcile {

class IntentFile {
public:
    // Of pods whose intents are not on disk yet: they are there within milliseconds, unless the disk is full. 128 KiB.
    static constexpr std::size_t slot_count = 64;
    // Longer messages are cut in the file; what is sent by the agent that noted it is whole.
    static constexpr std::size_t most_of_a_message = 1400;

    enum class Needs : std::uint8_t { tmpfs, nothing };  // `nothing`: for tests, where the file may be on a disk

    // Its directory is made, and only ours to change. `unreachable`: another agent has it. A file that is not one of
    // ours is moved to PATH.broken. Error where it is on a disk: writing could wait for that.
    [[nodiscard]] static Result<std::unique_ptr<IntentFile>> open(const std::string& path, Needs needs = Needs::tmpfs);
    // What is noted in a file that no agent has; nothing where there is no file. Entries stay in it; what a killed
    // agent had not written to its end is cleared. `invalid`: a file of another layout; it stays as it is.
    [[nodiscard]] static Result<std::vector<Intent>> read_left(const std::string& path);
    IntentFile(const IntentFile&) = delete;
    IntentFile& operator=(const IntentFile&) = delete;
    ~IntentFile();

    // The kill path's thread alone. False: no slot is free, or its names are longer than Kubernetes'.
    bool note(const DesiredPodStatus& status, WallTime now) noexcept;

    // Any thread, but one at a time for both. Slots that were being written are not read. All are of this boot.
    [[nodiscard]] std::vector<Intent> read() const;
    // Of this pod, up to this attempt.
    void clear(const PodUid& pod, std::int32_t attempt);

    // When it was opened: slots that a killed agent had not written to their end. They were cleared.
    [[nodiscard]] std::size_t torn() const { return torn_; }
    // What was moved out of the way when it was opened; empty: nothing.
    [[nodiscard]] const std::string& set_aside() const { return set_aside_; }

private:
    struct Layout;
    using Head = std::array<std::uint64_t, 2>;  // the file's first bytes: its magic, and the size of its slots
    static bool is_unused(const Head& head, std::int64_t size);
    static bool has_layout(const Head& head, std::int64_t size);
    IntentFile(sys::Fd file, Layout* layout) : file_(std::move(file)), layout_(layout) {}
    static Result<sys::Fd> open_whole(int directory, const std::string& name, const std::string& path,
                                      std::string& set_aside);
    static Result<std::unique_ptr<IntentFile>> map(sys::Fd file, const std::string& path);
    void drop_torn();

    sys::Fd file_;  // locked as long as it is open
    Layout* layout_;
    std::size_t torn_ = 0;
    std::string set_aside_;
};

}  // namespace evictd::reconcile

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The inodes that a walk has met, so that none is counted twice. Its memory is bounded: 16 bytes for each inode, and as
// much again for speed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace evictd::disk {

// Not the number alone: subvolumes of btrfs and layers of overlayfs have numbers of their own.
struct InodeId {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const InodeId&, const InodeId&) = default;
};

class InodeSet {
public:
    enum class Answer : std::uint8_t {
        added,
        known,
        full,  // not known, and not remembered either
    };

    // It takes `most` inodes.
    explicit InodeSet(std::size_t most) : most_(most) {}
    [[nodiscard]] Answer add(const InodeId& id);
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    [[nodiscard]] InodeId& place_of(const InodeId& id);
    void grow();

    std::size_t most_;
    std::size_t size_ = 0;
    std::vector<InodeId> places_;  // a power of two; no filesystem has an inode 0, so that is a free place
};

}  // namespace evictd::disk

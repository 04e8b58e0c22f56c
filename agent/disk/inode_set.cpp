// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Open addressing with linear probing.
#include "disk/inode_set.hpp"

#include <utility>

namespace evictd::disk {
namespace {

constexpr std::size_t first_places = 64;

// The finalizer of MurmurHash3. Not keyed: the owner of a directory does not choose the numbers of its inodes.
std::uint64_t mix(const InodeId& id) {
    std::uint64_t hash = id.inode + (id.device * 0x9e3779b97f4a7c15U);
    hash = (hash ^ (hash >> 33U)) * 0xff51afd7ed558ccdU;
    hash = (hash ^ (hash >> 33U)) * 0xc4ceb9fe1a85ec53U;
    return hash ^ (hash >> 33U);
}

}  // namespace

InodeId& InodeSet::place_of(const InodeId& id) {
    const std::size_t mask = places_.size() - 1;
    std::size_t at = mix(id) & mask;
    while (places_[at].inode != 0 && places_[at] != id) at = (at + 1) & mask;
    return places_[at];
}

void InodeSet::grow() {
    const auto before =
        std::exchange(places_, std::vector<InodeId>(places_.empty() ? first_places : places_.size() * 2));
    for (const auto& id : before) {
        if (id.inode != 0) place_of(id) = id;
    }
}

InodeSet::Answer InodeSet::add(const InodeId& id) {
    if (places_.empty() || (size_ < most_ && (size_ + 1) * 4 > places_.size() * 3)) grow();
    auto& place = place_of(id);
    if (place.inode != 0) return Answer::known;
    if (id.inode == 0 || size_ >= most_) return Answer::full;
    place = id;
    ++size_;
    return Answer::added;
}

}  // namespace evictd::disk

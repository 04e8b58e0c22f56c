// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/pending_names.hpp"

#include <algorithm>

namespace evictd::disk {
namespace {

// Bytes: two names of most sizes. With less, each name is an allocation of its own.
constexpr std::size_t least = 64;

}  // namespace

bool PendingNames::add(const char* name, std::size_t most) {
    const std::size_t length = std::strlen(name) + 1;
    if (names_.capacity() - names_.size() < length) {
        // Twice as much, as a vector grows, or what there is.
        const std::size_t more = std::max({std::min(names_.capacity(), most), length, least});
        if (more > most) return false;
        names_.reserve(names_.capacity() + more);
    }
    names_.insert(names_.end(), name, name + length);
    return true;
}

void PendingNames::drop_front() {
    next_ += std::strlen(front()) + 1;
    const std::size_t left = names_.size() - next_;
    if (left > 0 && next_ < left) return;
    // The half of it that was dropped is given back: each byte is copied once, on average.
    names_ = std::vector<char>(names_.begin() + static_cast<std::ptrdiff_t>(next_), names_.end());
    next_ = 0;
}

}  // namespace evictd::disk

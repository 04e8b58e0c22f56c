// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Names of directories that a walk has still to enter, first in, first out. What it holds of memory counts, and not
// what is in use of it: of a wide directory most of that may be names that were entered long ago.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace evictd::disk {

class PendingNames {
public:
    [[nodiscard]] bool empty() const { return next_ == names_.size(); }
    [[nodiscard]] bool has_one() const { return !empty() && next_ + std::strlen(front()) + 1 == names_.size(); }
    // Valid until the next change.
    [[nodiscard]] const char* front() const { return names_.data() + next_; }
    // False: it would take more than `most` bytes more, and is not there.
    [[nodiscard]] bool add(const char* name, std::size_t most);
    void drop_front();
    // Bytes. Some three times as much as the names take, at most.
    [[nodiscard]] std::size_t held() const { return names_.capacity(); }

private:
    std::vector<char> names_;  // each with its NUL
    std::size_t next_ = 0;     // the first byte of the next of them
};

}  // namespace evictd::disk

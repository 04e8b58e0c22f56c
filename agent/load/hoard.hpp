// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Memory that is reserved and not yet taken: touching it takes it.
#pragma once

#include <cstddef>

namespace evictd::load {

class Hoard {
public:
    // Never more than `most` bytes. A killed process may be stripped of its private memory while it cannot exit; of
    // shared memory it is not. Ends the process if the address space cannot be had.
    Hoard(std::size_t most, bool shared);
    Hoard(const Hoard&) = delete;
    Hoard& operator=(const Hoard&) = delete;
    ~Hoard();

    void grow_to(std::size_t size);
    // To `most` at this rate; returns when it is there. After a stall it may catch up, at most 5 times as fast, so that
    // it never leaps over a threshold; `steady`: what a long stall cost is not made up for.
    void grow(std::size_t bytes_per_second, bool steady);
    void grow_at_once() { grow_to(most_); }
    // Private memory only.
    void shrink_to(std::size_t size);
    [[nodiscard]] std::size_t taken() const { return taken_; }

private:
    std::size_t most_;
    volatile char* start_ = nullptr;
    std::size_t taken_ = 0;
};

}  // namespace evictd::load

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A few descriptors held for a moment in which there are no others.
#pragma once

#include <cstddef>
#include <vector>

#include "sys/fd.hpp"

namespace evictd::sys {

class SpareDescriptors {
public:
    explicit SpareDescriptors(std::size_t count) : count_(count) { refill(); }
    // True: there were some.
    bool release();
    // As many as there are to be had.
    void refill();

private:
    std::size_t count_;
    std::vector<Fd> spare_;
};

}  // namespace evictd::sys

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/spare_descriptors.hpp"

#include <utility>

#include <fcntl.h>

namespace evictd::sys {

bool SpareDescriptors::release() {
    const bool any = !spare_.empty();
    spare_.clear();
    return any;
}

void SpareDescriptors::refill() {
    while (spare_.size() < count_) {
        Fd one(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        if (!one) return;
        spare_.push_back(std::move(one));
    }
}

}  // namespace evictd::sys

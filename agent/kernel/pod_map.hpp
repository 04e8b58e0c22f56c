// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The map `pods`: which pods the kernel's programs know, and what tools read of them.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "evictd/abi/settings.h"
#include "evictd/model/ids.hpp"
#include "evictd/model/result.hpp"

namespace evictd::kernel {

class PodMap {
public:
    // `map` is not owned and outlives it.
    explicit PodMap(int map) : map_(map) {}

    // Replaces all entries. Most pods are as they were: what did not change, by a hash of 64 bits, is not written
    // again. What could not be written is written by the next call.
    Status show(const std::vector<std::pair<CgroupId, evictd_pod>>& pods);
    // In ascending order.
    [[nodiscard]] const std::vector<CgroupId>& shown() const { return ids_; }

private:
    [[nodiscard]] bool shows(CgroupId id, std::size_t digest) const;

    int map_;
    std::vector<CgroupId> ids_;
    std::vector<std::size_t> digests_;  // of the entries of ids_; 0: it may not have been written
};

}  // namespace evictd::kernel

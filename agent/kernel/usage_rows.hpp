// SPDX-License-Identifier: Apache-2.0
// The memory in which the usage iterator leaves its rows, seen from here. It runs no pass and decodes nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "evictd/model/result.hpp"

namespace evictd::kernel {

class UsageRows {
public:
    // `map`: the BPF map "usage_rows".
    static Result<UsageRows> open(int map);

    // The first `count` rows. More than there is room for: an error that says so.
    [[nodiscard]] Result<std::span<const std::byte>> first(std::size_t count) const;

private:
    struct Unmap {
        void operator()(std::byte* rows) const;
    };
    explicit UsageRows(std::byte* rows) : rows_(rows) {}

    std::unique_ptr<std::byte, Unmap> rows_;
};

}  // namespace evictd::kernel

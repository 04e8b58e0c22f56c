// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The memory in which the usage iterator leaves its rows, seen from here. It runs no pass and decodes nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "evictd/model/result.hpp"

namespace evictd::kernel {

class UsageRows {
public:
    // `map`: the BPF map "usage_rows", which stays its owner's and must stay open.
    static Result<UsageRows> open(int map);

    // The first `count` rows, until the next call. More than there is room for: an error that says so.
    [[nodiscard]] Result<std::span<const std::byte>> first(std::size_t count);

private:
    struct Unmap {
        std::size_t rows;
        void operator()(std::byte* mapped) const;
    };
    explicit UsageRows(int map) : map_(map) {}
    Status reach(std::size_t count);

    int map_;
    std::unique_ptr<std::byte, Unmap> rows_{nullptr, Unmap{0}};
};

}  // namespace evictd::kernel

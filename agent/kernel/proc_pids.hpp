// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The node's tasks as /proc tells them, through files that stay open: without a descriptor or a PID to spare it still
// reads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "evictd/port/node_pids.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {

class ProcPids final : public port::NodePids {
public:
    static Result<std::unique_ptr<ProcPids>> open();
    Result<port::NodePidsReading> read() override;

private:
    ProcPids() = default;
    [[nodiscard]] Result<std::int64_t> number(const sys::Fd& file, const char* path);

    sys::Fd pid_max_;
    sys::Fd threads_max_;
    sys::Fd loadavg_;
    std::string text_;
};

// Of /proc/loadavg: what follows the slash of the fourth field. None: there is no such number.
[[nodiscard]] std::optional<std::int64_t> parse_tasks(std::string_view loadavg);

}  // namespace evictd::kernel

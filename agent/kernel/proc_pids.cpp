// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/proc_pids.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fcntl.h>

#include "sys/file.hpp"

namespace evictd::kernel {
namespace {

constexpr const char* pid_max_path = "/proc/sys/kernel/pid_max";
constexpr const char* threads_max_path = "/proc/sys/kernel/threads-max";
constexpr const char* loadavg_path = "/proc/loadavg";

std::optional<std::int64_t> leading_number(std::string_view text) {
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    return parsed.ec == std::errc() && value >= 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> parse_tasks(std::string_view loadavg) {
    const auto slash = loadavg.find('/');
    return slash == std::string_view::npos ? std::nullopt : leading_number(loadavg.substr(slash + 1));
}

Result<std::unique_ptr<ProcPids>> ProcPids::open() {
    std::unique_ptr<ProcPids> files(new ProcPids);
    for (const auto& [file, path] : {std::pair{&files->pid_max_, pid_max_path},
                                     {&files->threads_max_, threads_max_path},
                                     {&files->loadavg_, loadavg_path}}) {
        auto opened = sys::open(path, O_RDONLY);
        if (!opened) return tl::unexpected(opened.error());
        *file = std::move(*opened);
    }
    return files;
}

Result<std::int64_t> ProcPids::number(const sys::Fd& file, const char* path) {
    if (auto status = sys::read_text(file.get(), text_); !status) return tl::unexpected(status.error());
    const auto value = leading_number(text_);
    return value ? Result<std::int64_t>(*value) : fail(ErrorKind::failed, path, "is not a number");
}

Result<port::NodePidsReading> ProcPids::read() {
    const auto pids = number(pid_max_, pid_max_path);
    if (!pids) return tl::unexpected(pids.error());
    const auto threads = number(threads_max_, threads_max_path);
    if (!threads) return tl::unexpected(threads.error());
    if (auto status = sys::read_text(loadavg_.get(), text_); !status) return tl::unexpected(status.error());
    const auto running = parse_tasks(text_);
    if (!running) return fail(ErrorKind::failed, loadavg_path, "does not say how many tasks there are");
    return port::NodePidsReading{.most = std::min(*pids, *threads), .running = *running};
}

}  // namespace evictd::kernel

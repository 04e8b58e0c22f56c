// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/usage_iter.hpp"

#include <algorithm>
#include <cstdlib>

#include <fcntl.h>

#include "kernel/decode.hpp"
#include "kernel/proc_files.hpp"
#include "kernel/usage_files.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {

Status UsageIter::read(std::vector<port::CgroupUsage>& rows, port::Pass pass) {
    rows.clear();
    const auto read = bpf_.read_usage(pass);
    node_ = bpf_.node_memory();
    if (!read) {
        return tl::unexpected(read.error());
    }
    decode_usage(*read, rows);
    return rows.empty() ? fail(ErrorKind::vanished, "pods' cgroup", "was removed") : Status{};
}

std::optional<port::RootCount> UsageIter::timer_count() const {
    const auto stats = bpf_.timer_stats();
    if (stats.walked_ns == 0) {
        return std::nullopt;
    }
    return port::RootCount{.inactive_file = {static_cast<std::int64_t>(stats.inactive_file)},
                           .active_file = {static_cast<std::int64_t>(stats.active_file)},
                           .at = MonotonicTime{Duration{static_cast<std::int64_t>(stats.walked_ns)}}};
}

Result<std::optional<port::RootCount>> UsageIter::controller_count() {
    node_.reset();  // the flush may take milliseconds
    if (bpf_.root_directory() < 0) {
        return fail(ErrorKind::vanished, "pods' cgroup", "there is none");
    }
    std::optional<Bytes> kernel_memory;
    if (read_file("memory.kmem.usage_in_bytes")) {  // v1
        kernel_memory = Bytes{std::strtoll(text_.c_str(), nullptr, 10)};
    }
    if (auto read = read_file("memory.stat"); !read) {
        return tl::unexpected(read.error());
    }
    return std::optional(whole_tree_count(text_, kernel_memory));
}

// The node's counters of file pages are up to date, those of the hierarchy's root as late as everybody's.
Bytes UsageIter::uncounted_cache() {
    const auto read = [&](const std::string& path) {
        auto file = sys::open(path, O_RDONLY);
        return file && sys::read_text(file->get(), text_);
    };
    if (!read(bpf_.memory_mount() + "/memory.stat")) {
        return {};
    }
    const Bytes counted = file_pages(text_);
    return read("/proc/meminfo") ? std::max(Bytes{0}, parse_page_cache(text_) - counted) : Bytes{0};
}

Status UsageIter::read_file(const char* name) {
    auto file = sys::openat(bpf_.root_directory(), name, O_RDONLY);
    return file ? sys::read_text(file->get(), text_) : tl::unexpected<Error>(file.error());
}

}  // namespace evictd::kernel

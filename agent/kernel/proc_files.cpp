// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/proc_files.hpp"

#include <charconv>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "sys/file.hpp"

namespace evictd::kernel {
namespace {

// Larger than any machine: what exceeds it is no number of the kernel's, and sums and bytes of it would overflow.
constexpr std::int64_t most_kib = std::int64_t{1} << 50;
constexpr std::int64_t most_pages_in_a_list = std::int64_t{1} << 32;

// The number after `label`, skipping blanks; none if there is no such label at the start of a line.
std::optional<std::int64_t> number_after(std::string_view text, std::string_view label) {
    std::size_t at = text.starts_with(label) ? 0 : text.find("\n" + std::string(label));
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    at = text.find(label, at) + label.size();
    at = text.find_first_not_of(' ', at);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data() + at, text.data() + text.size(), value);
    return parsed.ec == std::errc() && value >= 0 && value <= most_kib ? std::optional(value) : std::nullopt;
}

}  // namespace

Result<port::NodeMemoryReading> parse_meminfo(const std::string& text) {
    const auto total = number_after(text, "MemTotal:");
    const auto free = number_after(text, "MemFree:");
    const auto inactive_file = number_after(text, "Inactive(file):");
    const auto reclaimable = number_after(text, "MemAvailable:");
    if (!total || !free || !inactive_file || !reclaimable) {
        return fail(ErrorKind::failed, "/proc/meminfo", "lacks MemTotal, MemFree, MemAvailable or Inactive(file)");
    }
    constexpr std::int64_t kib = 1024;
    return port::NodeMemoryReading{
        .total = {*total * kib}, .available = {(*free + *inactive_file) * kib}, .reclaimable = {*reclaimable * kib}};
}

Bytes parse_page_cache(const std::string& text) {
    std::int64_t kib = 0;
    for (const auto* label : {"Cached:", "Buffers:", "SwapCached:"}) {
        kib += number_after(text, label).value_or(0);
    }
    return {kib * 1024};
}

std::int64_t parse_cpu_list_pages(const std::string& text) {
    constexpr std::string_view label = " count:";
    std::int64_t pages = 0;
    for (std::size_t at = text.find(label); at != std::string::npos; at = text.find(label, at)) {
        at += label.size();
        const auto digits = text.find_first_not_of(' ', at);
        std::int64_t value = 0;
        if (digits != std::string::npos &&
            std::from_chars(text.data() + digits, text.data() + text.size(), value).ec == std::errc() && value > 0 &&
            value <= most_pages_in_a_list) {
            pages += value;
        }
    }
    return pages;
}

std::uint32_t possible_numa_nodes() {
    constexpr std::size_t limit = 4096;
    const auto text = sys::read_file("/sys/devices/system/node/possible", limit);  // "0", "0-3", "0,2-5"
    if (!text) {
        return 1;
    }
    const auto last = text->find_last_of("-,");
    const std::size_t at = last == std::string::npos ? 0 : last + 1;
    std::uint32_t highest = 0;
    (void)std::from_chars(text->data() + at, text->data() + text->size(), highest);
    return highest + 1;
}

Result<std::unique_ptr<ProcFiles>> ProcFiles::open() {
    std::unique_ptr<ProcFiles> files(new ProcFiles);
    auto meminfo = sys::open("/proc/meminfo", O_RDONLY);
    if (!meminfo) {
        return tl::unexpected(meminfo.error());
    }
    files->meminfo_ = std::move(*meminfo);
    if (auto zoneinfo = sys::open("/proc/zoneinfo", O_RDONLY)) {
        files->zoneinfo_ = std::move(*zoneinfo);
    }
    return files;
}

Result<port::NodeMemoryReading> ProcFiles::read(bool with_cpu_lists) {
    if (auto status = sys::read_text(meminfo_.get(), text_); !status) {
        return tl::unexpected(status.error());
    }
    auto reading = parse_meminfo(text_);
    if (reading && with_cpu_lists && zoneinfo_ && sys::read_text(zoneinfo_.get(), text_)) {
        const Bytes free{parse_cpu_list_pages(text_) * sysconf(_SC_PAGESIZE)};
        reading->available += free;
        reading->cpu_lists = free;
        reading->reclaimable += free;  // si_mem_available() starts from NR_FREE_PAGES, which leaves them out
    }
    return reading;
}

}  // namespace evictd::kernel

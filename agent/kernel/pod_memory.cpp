// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// CgroupHandle's memory: what it is charged with, and the page cache that it can do without.
#include <algorithm>
#include <charconv>
#include <string>

#include <fcntl.h>

#include "kernel/pod_cgroup.hpp"
#include "kernel/process_lists.hpp"
#include "kernel/usage_files.hpp"

namespace evictd::kernel {
namespace {

// Less is not worth a walk over the kernel's lists.
constexpr Bytes hardly_any_cache = 1_MiB;

Bytes number_in(const Result<std::string>& text) {
    std::int64_t value = 0;
    if (text) {
        (void)std::from_chars(text->data(), text->data() + text->size(), value);
    }
    return Bytes{value};
}

// A counter that is not listed is not known, and not 0.
bool is_zero(const std::string& stat, const char* key) {
    return ("\n" + stat).find("\n" + std::string(key) + " 0\n") != std::string::npos;
}

}  // namespace

// Of memory that its pages are charged to, not of what its processes map. A kind that this kernel does not count is 0.
Result<HeldMemory> CgroupHandle::held_memory() const {
    const auto total = read_file_at(memory_.get(), v2_ ? "memory.current" : "memory.usage_in_bytes");
    const auto stat = read_file_at(memory_.get(), "memory.stat");
    if (!total || !stat) {
        return tl::unexpected(total ? stat.error() : total.error());
    }
    const auto value = [&](const char* key) { return Bytes{flat_value(*stat, key)}; };
    HeldMemory held{.total = number_in(total)};
    if (v2_) {
        held.anon = value("anon");
        held.shmem = value("shmem");
        held.file = std::max(Bytes{0}, value("file") - held.shmem);
        held.slab = value("slab");
        held.page_tables = value("pagetables");
        held.kernel = value("kernel");
    } else {
        held.anon = value("total_rss");
        held.shmem = value("total_shmem");
        held.file = std::max(Bytes{0}, value("total_cache") - held.shmem);
        held.kernel = number_in(read_file_at(memory_.get(), "memory.kmem.usage_in_bytes"));
    }
    return held;
}

// While a page is under writeback, force_empty waits for it without end (shrink_folio_list() in mm/vmscan.c), and the
// server of a FUSE or NFS mount may never answer; a dirty page may get there any time. Reclaim on v2 does not wait for
// writeback (writeback_throttling_sane()) where the kernel has CONFIG_CGROUP_WRITEBACK, but NFS may wait for its server
// when it gives up a page that is not committed (nfs_release_folio()): it is treated alike.
// On v2 the kernel is asked for as many bytes as there are of page cache, and no more.
Result<bool> CgroupHandle::drop_cache() const {
    const auto held = held_memory();
    if (!held) {
        return held.error().kind == ErrorKind::vanished ? Result<bool>(tl::unexpected(held.error())) : false;
    }
    if (held->file < hardly_any_cache) {
        return true;
    }
    const auto stat = read_file_at(memory_.get(), "memory.stat");
    if (!stat || !is_zero(*stat, v2_ ? "file_dirty" : "total_dirty") ||
        !is_zero(*stat, v2_ ? "file_writeback" : "total_writeback")) {
        return false;
    }
    const auto file = sys::openat(memory_.get(), v2_ ? "memory.reclaim" : "memory.force_empty", O_WRONLY);
    if (!file) {
        return tl::unexpected(file.error());
    }
    return sys::write_text(file->get(), v2_ ? std::to_string(held->file.value) : "0").map([] { return true; });
}

}  // namespace evictd::kernel

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/load_memory.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include <malloc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>

namespace evictd::kernel {
namespace {

constexpr std::size_t huge_page = 2 << 20;  // bytes, as all below
// Two copies of the types, 5.3 MiB each on Linux 6.18, what libbpf adds to each, and the programs. What does not fit is
// read into small pages. A multiple of huge_page.
constexpr std::size_t load_memory = 14 << 20;
// With less a huge page would more often have to be made by reclaim and compaction.
constexpr std::uint64_t least_free_memory = 256 << 20;
constexpr std::uint64_t least_free_share = 16;  // a sixteenth of all memory
// About what as many small pages take where a page fault takes 12 us. One huge page takes 0.1 ms, 7 ms where the host
// of a virtual machine has to find the memory first, and longer where the kernel compacts memory for it.
constexpr auto most_time = std::chrono::milliseconds(40);

std::byte* huge_pages = nullptr;  // the memory that was touched; null before

bool has_free_memory() {
    struct sysinfo info {};
    return sysinfo(&info) == 0 && info.freeram * info.mem_unit >= least_free_memory &&
           info.freeram >= info.totalram / least_free_share;
}

// One byte of each huge page.
void touch(std::byte* memory) {
    const auto end = std::chrono::steady_clock::now() + most_time;
    for (std::size_t at = 0; at < load_memory && std::chrono::steady_clock::now() < end; at += huge_page) {
        *static_cast<volatile std::byte*>(memory + at) = std::byte{0};
    }
}

// Lifts PR_SET_THP_DISABLE while the pages are touched.
void touch_huge_pages(std::byte* memory) {
    const int refused = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
    if (refused > 0 && prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0) != 0) {
        return;
    }
    if (madvise(memory, load_memory, MADV_HUGEPAGE) == 0) {
        touch(memory);
        huge_pages = memory;
    }
    if (refused > 0) {
        (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    }
}

}  // namespace

void prepare_load_memory() {
    // aligned_alloc() asks for up to 2 MiB more than load_memory. Below these thresholds, memory comes from the heap
    // and stays there when it is freed.
    (void)mallopt(M_MMAP_THRESHOLD, load_memory + 2 * huge_page);
    (void)mallopt(M_TRIM_THRESHOLD, 2 * load_memory);
    if (huge_pages != nullptr || !has_free_memory()) {
        return;
    }
    // Freed at once: what is allocated next lies in it.
    const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(huge_page, load_memory), std::free);
    if (memory) {
        touch_huge_pages(static_cast<std::byte*>(memory.get()));
    }
}

void release_load_memory() {
    // Somewhat above what malloc raises them to by itself, 5.3 and 10.6 MiB, when memory of the types' size is first
    // freed.
    (void)mallopt(M_MMAP_THRESHOLD, 8 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 16 << 20);
    (void)malloc_trim(0);
    // As long as a part of a huge page is in use, the kernel keeps all of it. MADV_COLD splits it, and frees the rest.
    if (huge_pages != nullptr) {
        (void)madvise(huge_pages, load_memory, MADV_COLD);
    }
}

}  // namespace evictd::kernel

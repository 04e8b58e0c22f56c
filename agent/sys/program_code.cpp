// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/program_code.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace evictd::sys {
namespace {

// From the page that holds `from` to the one that ends at or after `to`.
int populate(std::uintptr_t from, std::uintptr_t to) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    from -= from % page;
    // The dynamic linker gives addresses, not pointers.
    void* const begin = reinterpret_cast<void*>(from);  // NOLINT(performance-no-int-to-ptr)
    return madvise(begin, to - from, MADV_POPULATE_READ) == 0 ? 0 : errno;
}

// Of a read-only segment: where .rodata ends and .eh_frame_hdr begins. The unwind tables are as large again, and are
// read only when an exception is thrown.
std::uintptr_t end_of_constants(std::span<const ElfW(Phdr)> headers, const ElfW(Phdr) & segment) {
    const auto end = segment.p_vaddr + segment.p_memsz;
    for (const auto& header : headers) {
        if (header.p_type == PT_GNU_EH_FRAME && header.p_vaddr >= segment.p_vaddr && header.p_vaddr < end) {
            return header.p_vaddr;
        }
    }
    return segment.p_vaddr;  // the segment of relocations and symbols, which only the dynamic linker reads
}

int populate_object(const dl_phdr_info& object) {
    const std::span headers(object.dlpi_phdr, object.dlpi_phnum);
    const bool is_program = std::string_view(object.dlpi_name).empty();
    int fault = 0;
    for (const auto& segment : headers) {
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) {
            continue;
        }
        const bool is_code = (segment.p_flags & PF_X) != 0;
        const auto end = is_code ? segment.p_vaddr + segment.p_memsz : end_of_constants(headers, segment);
        if ((is_code || is_program) && end > segment.p_vaddr) {
            const int failed = populate(object.dlpi_addr + segment.p_vaddr, object.dlpi_addr + end);
            fault = fault != 0 ? fault : failed;
        }
    }
    return fault;
}

}  // namespace

bool is_code_needed_at_once(std::string_view object) {
    constexpr std::array<std::string_view, 3> libraries{"libc.so", "libstdc++.so", "libgcc_s.so"};
    const auto name = object.substr(object.rfind('/') + 1);  // npos + 1: all of it
    return object.empty() ||                                 // the program
           std::any_of(libraries.begin(), libraries.end(), [&](auto each) { return name.starts_with(each); });
}

int populate_code() {
    int fault = 0;
    (void)dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t /*size*/, void* first) {
            auto& told = *static_cast<int*>(first);
            const int failed = is_code_needed_at_once(object->dlpi_name) ? populate_object(*object) : 0;
            told = told != 0 ? told : failed;
            return 0;
        },
        &fault);
    return fault;
}

void give_back(std::span<const std::byte> pages) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto first = reinterpret_cast<std::uintptr_t>(pages.data());
    const auto begin = (first + page - 1) / page * page;
    const auto end = (first + pages.size()) / page * page;
    if (begin >= end) {
        return;
    }
    void* const whole = reinterpret_cast<void*>(begin);  // NOLINT(performance-no-int-to-ptr)
    if (munlock(whole, end - begin) == 0) {              // locked pages are not taken out
        (void)madvise(whole, end - begin, MADV_DONTNEED);
        (void)mlock2(whole, end - begin, MLOCK_ONFAULT);
    }
}

}  // namespace evictd::sys

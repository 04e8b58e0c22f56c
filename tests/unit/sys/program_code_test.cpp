// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The program's own code in memory.
#include "sys/program_code.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "sys/fd.hpp"
#include "unit/sys/own_mappings.hpp"

namespace evictd::sys {
namespace {

// Of the mapping that holds `address`: KiB of it that are not mapped to memory.
long not_mapped(const void* address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    for (const auto& mapping : own_mappings()) {
        if (mapping.begin <= at && at < mapping.end) return mapping.size - mapping.rss;
    }
    return -1;
}

// Not by mlock(2) and the VMAs in smaps: the sanitizers' mlock() does nothing.
bool is_mapped(const void* address) {
    const auto page = reinterpret_cast<std::uintptr_t>(address) / static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const Fd pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
    std::uint64_t entry = 0;
    const auto got = ::pread(pagemap.get(), &entry, sizeof(entry), static_cast<off_t>(page * sizeof(entry)));
    return got == sizeof(entry) && (entry >> 63U) != 0;
}

alignas(16384) constexpr std::array<char, 65536> constants{'e', 'v', 'i', 'c', 't', 'd'};  // in pages of their own

TEST(ProgramCode, IsMappedToTheLastPage) {
    give_back(std::as_bytes(std::span(constants)));  // a program that has all of its code in memory proves nothing
    ASSERT_FALSE(is_mapped(&constants.back()));
    ASSERT_EQ(populate_code(), 0);
    EXPECT_TRUE(is_mapped(&constants.back()));
    EXPECT_EQ(not_mapped(reinterpret_cast<const void*>(&populate_code)), 0);
    EXPECT_EQ(not_mapped(reinterpret_cast<const void*>(&getppid)), 0) << "the C library";
}

TEST(ProgramCode, ConstantsThatAreGivenBackLeaveMemoryAndAreReadAgain) {
    ASSERT_EQ(populate_code(), 0);
    const char* const second_page = constants.data() + sysconf(_SC_PAGESIZE);
    ASSERT_TRUE(is_mapped(constants.data()));
    ASSERT_TRUE(is_mapped(second_page));
    give_back(std::as_bytes(std::span(constants).subspan(1)));
    EXPECT_TRUE(is_mapped(constants.data())) << "it is not whole";
    EXPECT_FALSE(is_mapped(second_page));
    EXPECT_FALSE(is_mapped(&constants.back()));
    EXPECT_EQ(std::string_view(constants.data(), 6), "evictd");
    EXPECT_EQ(*second_page, '\0');
    EXPECT_TRUE(is_mapped(second_page));
}

TEST(ProgramCode, OfTheLibrariesOnlyThoseThatEveryFunctionNeeds) {
    for (const char* needed : {"", "/usr/lib/x86_64-linux-gnu/libc.so.6", "libstdc++.so.6", "/lib/libgcc_s.so.1"}) {
        EXPECT_TRUE(is_code_needed_at_once(needed)) << needed;
    }
    for (const char* other :
         {"linux-vdso.so.1", "/usr/lib/libcrypto.so.3", "/usr/lib/libcgroup.so.2", "libc.so/other"}) {
        EXPECT_FALSE(is_code_needed_at_once(other)) << other;
    }
}

}  // namespace
}  // namespace evictd::sys

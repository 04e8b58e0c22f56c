// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The program's own code in memory.
#include "sys/program_code.hpp"

#include <array>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace evictd::sys {
namespace {

// Of the mapping that holds `address`: KiB of it that are not mapped to memory, as /proc/self/smaps has them.
long not_mapped(const void* address) {
    std::ifstream smaps("/proc/self/smaps");
    bool is_here = false;
    long size = 0;
    for (std::string line; std::getline(smaps, line);) {
        std::istringstream words(line);
        std::string first;
        words >> first;
        if (const auto dash = first.find('-'); dash != std::string::npos && first.find(':') == std::string::npos) {
            const auto at = reinterpret_cast<std::uintptr_t>(address);
            is_here = std::stoul(first.substr(0, dash), nullptr, 16) <= at &&
                      at < std::stoul(first.substr(dash + 1), nullptr, 16);
        } else if (long value = 0; is_here && words >> value) {
            size = first == "Size:" ? value : size;
            if (first == "Rss:") {
                return size - value;
            }
        }
    }
    return -1;
}

TEST(ProgramCode, IsMappedToTheLastPage) {
    const auto* function = reinterpret_cast<const void*>(&populate_code);
    ASSERT_GT(not_mapped(function), 0) << "a program that has run all of its code already proves nothing";
    ASSERT_EQ(populate_code(), 0);
    EXPECT_EQ(not_mapped(function), 0);
    EXPECT_EQ(not_mapped(reinterpret_cast<const void*>(&getppid)), 0) << "the C library";
}

alignas(16384) constexpr std::array<char, 65536> constants{'e', 'v', 'i', 'c', 't', 'd'};  // in pages of their own

TEST(ProgramCode, ConstantsThatAreNotNeededAreTakenOutAndAreStillThere) {
    ASSERT_EQ(populate_code(), 0);
    ASSERT_EQ(mlock(constants.data(), constants.size()), 0);
    const auto before = not_mapped(constants.data());
    unmap_constants(std::as_bytes(std::span(constants).subspan(1)));
    const auto page = sysconf(_SC_PAGESIZE);
    EXPECT_EQ(not_mapped(constants.data() + page), 64 - page / 1024) << "the first page is not whole";
    EXPECT_EQ(not_mapped(constants.data()), 0);
    EXPECT_EQ(before, 0);
    EXPECT_EQ(constants.back(), '\0');
    EXPECT_EQ(std::string_view(constants.data(), 6), "evictd");
    EXPECT_LT(not_mapped(constants.data() + constants.size() - 1), 64) << "read from the file again";
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

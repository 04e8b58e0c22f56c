// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/proc_files.hpp"

#include <string>

#include <gtest/gtest.h>

namespace evictd::kernel {
namespace {

const std::string meminfo =
    "MemTotal:       16000000 kB\n"
    "MemFree:         2000000 kB\n"
    "MemAvailable:    9000000 kB\n"
    "Inactive:        5000000 kB\n"
    "Active(file):    1500000 kB\n"
    "Inactive(file):  3000000 kB\n"
    "SwapFree:              0 kB\n";

TEST(ParseMeminfo, AvailableIsFreePlusInactiveFileAndReclaimableIsMemAvailable) {
    const auto reading = parse_meminfo(meminfo);
    ASSERT_TRUE(reading);
    EXPECT_EQ(reading->total, Bytes{16000000LL * 1024});
    EXPECT_EQ(reading->available, Bytes{5000000LL * 1024});
    EXPECT_EQ(reading->reclaimable, Bytes{9000000LL * 1024});
}

TEST(ParseMeminfo, PageCacheIsCachedBuffersAndSwapCached) {
    EXPECT_EQ(parse_page_cache("Buffers:  10 kB\nCached:   200 kB\nSwapCached:   3 kB\n"), Bytes{213LL * 1024});
    EXPECT_EQ(parse_page_cache("MemTotal: 5 kB\nCached:   200 kB\n"), Bytes{200LL * 1024}) << "no swap";
}

TEST(ParseMeminfo, ALabelCountsAtTheStartOfALineOnly) {
    const auto reading =
        parse_meminfo("XMemTotal: 1 kB\nMemTotal: 8 kB\nNoMemFree: 1 kB\nMemFree: 4 kB\n" +
                      std::string("NotInactive(file): 1 kB\nInactive(file): 2 kB\nMemAvailable: 3 kB\n"));
    ASSERT_TRUE(reading);
    EXPECT_EQ(reading->total, Bytes{8 * 1024});
    EXPECT_EQ(reading->available, Bytes{6 * 1024});
}

TEST(ParseMeminfo, AMissingFieldIsAnErrorAndNeverZero) {
    for (const std::string label : {"MemTotal:", "MemFree:", "MemAvailable:", "Inactive(file):"}) {
        auto without = meminfo;
        without.replace(without.find(label), 3, "xxx");
        const auto reading = parse_meminfo(without);
        ASSERT_FALSE(reading) << label;
        EXPECT_EQ(reading.error().what, "/proc/meminfo");
    }
}

TEST(ParseMeminfo, WhatIsNoNumberIsAnError) {
    for (const char* value : {"", "kB", "-5 kB", "99999999999999999999 kB", "9223372036854775807 kB"}) {
        EXPECT_FALSE(
            parse_meminfo("MemTotal: 8 kB\nMemFree: 4 kB\nMemAvailable: 5 kB\nInactive(file): " + std::string(value)))
            << value;
    }
}

TEST(ParseCpuListPages, AddsUpEveryCpusListOfEveryZone) {
    const std::string zoneinfo =
        "Node 0, zone   Normal\n"
        "  pages free     70\n"
        "        boost    0\n"
        "  pagesets\n"
        "    cpu: 0\n"
        "              count:    120\n"
        "              high:     500\n"
        "              batch:    63\n"
        "              high_min: 12\n"
        "    cpu: 1\n"
        "              count:    7\n"
        "              high:     500\n"
        "Node 0, zone  Movable\n"
        "    cpu: 0\n"
        "              count:    3\n";
    EXPECT_EQ(parse_cpu_list_pages(zoneinfo), 130);
}

TEST(ParseCpuListPages, NonsenseCountsNothing) {
    for (const char* text : {"", " count:", " count: \n", "discount: 5", " count: -5", " count: x",
                             " count: 9223372036854775807\n count: 9223372036854775807\n"}) {
        EXPECT_EQ(parse_cpu_list_pages(text), 0) << text;
    }
}

TEST(ProcFiles, ReadTheRunningKernel) {
    auto files = ProcFiles::open();
    ASSERT_TRUE(files);
    const auto plain = (*files)->read(false);
    ASSERT_TRUE(plain);
    EXPECT_GT(plain->total, Bytes{0});
    EXPECT_GT(plain->available, Bytes{0});
    EXPECT_LT(plain->available, plain->total);
    EXPECT_GT(plain->reclaimable, Bytes{0});
    EXPECT_LT(plain->reclaimable, plain->total);
    EXPECT_TRUE((*files)->read(true));
    EXPECT_GE(possible_numa_nodes(), 1U);
}

}  // namespace
}  // namespace evictd::kernel

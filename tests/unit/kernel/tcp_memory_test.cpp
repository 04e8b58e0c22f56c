// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/tcp_memory.hpp"

#include <gtest/gtest.h>

namespace evictd::kernel {
namespace {

const std::string sockstat =
    "sockets: used 41\nTCP: inuse 3 orphan 0 tw 2 alloc 5 mem 7\nUDP: inuse 1 mem 9\nUDPLITE: inuse 0\n"
    "RAW: inuse 0\nFRAG: inuse 0 memory 0\n";

TEST(TcpMemory, IsCountedInPages) {
    const auto memory = tcp_memory_of(sockstat, "100\t200\t300\n", 4096);
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->used, Bytes{7 * 4096});
    EXPECT_EQ(memory->pressure, Bytes{200 * 4096});
    EXPECT_EQ(memory->limit, Bytes{300 * 4096});
}

TEST(TcpMemory, TextsThatSaySomethingElseAreNoFigures) {
    EXPECT_FALSE(tcp_memory_of("", "1 2 3", 4096));
    EXPECT_FALSE(tcp_memory_of("UDP: inuse 1 mem 9\n", "1 2 3", 4096));
    EXPECT_FALSE(tcp_memory_of("TCP: inuse 1\n", "1 2 3", 4096));
    EXPECT_FALSE(tcp_memory_of(sockstat, "1 2", 4096));
    EXPECT_FALSE(tcp_memory_of(sockstat, "a b c", 4096));
}

TEST(TcpMemory, MoreThanCanBeCountedIsTheMost) {
    const auto memory = tcp_memory_of(sockstat, "1 2 9223372036854775807", 4096);
    ASSERT_TRUE(memory);
    EXPECT_GT(memory->limit.value, std::int64_t{1} << 61);
    EXPECT_EQ(tcp_memory_of("TCP: mem -5\n", "1 2 3", 4096)->used, Bytes{0});
}

}  // namespace
}  // namespace evictd::kernel

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which of the node's two readings a look takes.
#include "observe/node_reader.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_cgroups.hpp"
#include "fakes/fake_node.hpp"

namespace evictd::observe {
namespace {

struct NodeReading : testing::Test {
    fakes::FakeCgroupTree pass;
    fakes::FakeNode file;
    NodeReader reader{pass, file};
    MonotonicTime now{std::chrono::hours(1)};

    NodeReading() { file.reading = {.total = 8_GiB, .available = 3_GiB, .reclaimable = 4_GiB}; }
    void counts(Bytes available, Bytes reclaimable) {
        pass.node = port::NodeMemoryReading{.total = {}, .available = available, .reclaimable = reclaimable};
    }
    // Where the file could not be read, it was not asked.
    std::optional<Bytes> without_file(const NodeNeed& need = {}) {
        file.broken = true;
        const auto read = reader.read(true, need, now);
        file.broken = false;
        return read ? std::optional(read->available) : std::nullopt;
    }
    void compare() { ASSERT_TRUE(reader.read(false, {}, now)); }
};

TEST_F(NodeReading, AnUrgentLookTakesThePassOnceItWasFoundToAgree) {
    counts(3_GiB - 1_MiB, 4_GiB + 1_MiB);
    EXPECT_EQ(without_file(), std::nullopt);
    compare();
    counts(2_GiB, 1_GiB);
    EXPECT_EQ(without_file(), 2_GiB) << "as it is: the difference was what comes and goes";
    EXPECT_EQ(reader.read(true, {}, now)->total, 8_GiB);
    EXPECT_EQ(reader.read(true, {}, now)->reclaimable, 1_GiB);
    EXPECT_EQ(reader.read(false, {}, now)->available, 3_GiB) << "all others read the file";
}

TEST_F(NodeReading, WhereTheyDifferTheFileIsReadNearALine) {
    counts(1_GiB, 2_GiB);  // the kernel deferred the initialization of 2 GiB
    compare();
    EXPECT_EQ(without_file(), std::nullopt) << "something may be decided by any amount";
    EXPECT_EQ(without_file({.decides_below = 1_GiB}), 3_GiB) << "with the difference";
    EXPECT_EQ(without_file({.decides_below = 1_GiB + 1_B}), std::nullopt) << "it may have been initialized since";
    counts(2_GiB, 1_GiB);
    EXPECT_EQ(without_file({.decides_below = 1_GiB + 1_B}), std::nullopt) << "either of the two figures may be used";
}

TEST_F(NodeReading, APassThatFindsMoreThanTheFileIsNotTrustedWithIt) {
    counts(4_GiB, 5_GiB);
    compare();
    EXPECT_EQ(without_file({.decides_below = 3_GiB}), 3_GiB);
    EXPECT_EQ(without_file({.decides_below = 3_GiB + 1_B}), std::nullopt);
}

TEST_F(NodeReading, OneThatDiffersIsEnough) {
    counts(3_GiB, 4_GiB + 9_MiB);
    compare();
    EXPECT_EQ(without_file(), std::nullopt);
    counts(3_GiB + 9_MiB, 4_GiB);
    compare();
    EXPECT_EQ(without_file(), std::nullopt);
}

TEST_F(NodeReading, WhileMemoryReturnsTheListsOfTheCpusCountNearALine) {
    counts(3_GiB, 4_GiB);
    compare();
    EXPECT_EQ(without_file({.memory_returning = true}), std::nullopt);
    EXPECT_EQ(without_file({.decides_below = 3_GiB, .memory_returning = true}), 3_GiB);
    ASSERT_TRUE(reader.read(true, {.memory_returning = true}, now));
    EXPECT_TRUE(file.asked_for_cpu_lists);
    // The pass has none of them.
    file.reading = {.total = 8_GiB, .available = 3_GiB + 1_GiB, .reclaimable = 4_GiB + 1_GiB, .cpu_lists = 1_GiB};
    ASSERT_TRUE(reader.read(false, {.memory_returning = true}, now));
    EXPECT_EQ(without_file(), 3_GiB);
    file.reading.cpu_lists = {};
    ASSERT_TRUE(reader.read(false, {.memory_returning = true}, now));
    EXPECT_EQ(without_file(), std::nullopt);
}

TEST_F(NodeReading, WithoutAPassOrAfterOneThatFailedTheFileIsRead) {
    EXPECT_EQ(without_file(), std::nullopt);
    counts(3_GiB, 4_GiB);
    compare();
    pass.node.reset();
    EXPECT_EQ(without_file(), std::nullopt);
    compare();  // with nothing
    counts(3_GiB, 4_GiB);
    EXPECT_EQ(without_file(), std::nullopt);
}

// What came online since is in the file, and in the pass only once it was used.
TEST_F(NodeReading, AComparisonLastsASecond) {
    counts(3_GiB, 4_GiB);
    compare();
    now += std::chrono::seconds(1);
    EXPECT_EQ(without_file(), 3_GiB);
    now += std::chrono::nanoseconds(1);
    EXPECT_EQ(without_file(), std::nullopt);
}

TEST_F(NodeReading, AFileThatCannotBeReadLeavesTheComparison) {
    counts(3_GiB, 4_GiB);
    compare();
    file.broken = true;
    EXPECT_FALSE(reader.read(false, {}, now));
    EXPECT_EQ(without_file(), 3_GiB);
}

}  // namespace
}  // namespace evictd::observe

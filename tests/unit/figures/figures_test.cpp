// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "bench/figures/figures.hpp"

#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/figures/comparison.hpp"

namespace evictd::bench {
namespace {

Figure times(double factor, int count = 20) {
    Figure figure{"latency-110", "total", "us", {}, {}};
    for (int i = 0; i < count; i++) {
        figure.samples.push_back(factor * (100 + i));
    }
    return figure;
}

TEST(FigureLines, AreReadAsTheyWereWritten) {
    const auto read = figure_from(line_of({"idle", "its threads", "%", {0.125, 3}, {}}));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->part, "idle");
    EXPECT_EQ(read->name, "its threads");
    EXPECT_EQ(read->unit, "%");
    EXPECT_EQ(read->samples, (std::vector<double>{0.125, 3}));
    EXPECT_TRUE(read->why.empty());
}

TEST(FigureLines, SayWhyThereIsNoFigure) {
    const auto read = figure_from(line_of({"usage", "usage", "", {}, "no BPF:\tnot\npermitted"}));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->why, "no BPF: not permitted");
    EXPECT_TRUE(read->samples.empty());
}

TEST(FigureLines, WithoutNumbersAreRefused) {
    for (const char* line : {"", "idle\tthreads", "idle\tthreads\t%", "idle\tthreads\t%\tmany", "idle\tthreads\t%\t1x",
                             "idle\tthreads\t%\tnan", "idle\tthreads\t%\t1\tinf"}) {
        EXPECT_FALSE(figure_from(line)) << line;
    }
    EXPECT_FALSE(read_figures("/nonexistent"));
}

TEST(FigureDocument, HasEachFigureWithItsCommand) {
    const auto document = document_of({times(1, 4), {"idle", "idle", "", {}, "no agent"}}, "make bench");
    EXPECT_EQ(document.dump(),
              R"({"figures":[{"part":"latency-110","name":"total","unit":"us","count":4,"median":101.0,"p99":null,)"
              R"("min":100.0,"max":103.0,"command":"make bench PARTS=latency-110"}],)"
              R"("unmeasured":[{"part":"idle","name":"idle","why":"no agent","command":"make bench PARTS=idle"}]})");
}

TEST(FigureDocument, HasAP99OfAHundredSamples) {
    EXPECT_TRUE(document_of({times(1, 99)}, "make bench")["figures"][0]["p99"].is_null());
    EXPECT_EQ(document_of({times(1, 100)}, "make bench")["figures"][0]["p99"], 198);
}

TEST(ComparedRounds, GiveAMedianAndAP99) {
    const std::vector<std::vector<Figure>> base(10, {times(1)});
    const std::vector<std::vector<Figure>> tree(10, {times(2)});
    const auto rows = compare_rounds(base, tree);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].quantile, "median");
    EXPECT_EQ(rows[0].compared.ratio, 2);
    EXPECT_EQ(rows[0].tree_samples, 200U);
    EXPECT_EQ(word_for(rows[0]), "slower");
    EXPECT_EQ(rows[1].quantile, "p99");
    EXPECT_EQ(word_for(rows[1]), "slower");
    EXPECT_EQ(word_for(compare_rounds(tree, base)[0]), "faster");
}

TEST(ComparedRounds, OfMemoryAreMoreOrLess) {
    const std::vector<std::vector<Figure>> base(10, {{"idle", "VmRSS", "KiB", {1000}, {}}});
    const std::vector<std::vector<Figure>> tree(10, {{"idle", "VmRSS", "KiB", {900}, {}}});
    const auto rows = compare_rounds(base, tree);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(word_for(rows[0]), "less");
}

TEST(ComparedRounds, SayWhatCouldNotBeCompared) {
    const std::vector<std::vector<Figure>> base(10, {{"idle", "BPF timer", "", {}, "another version"}});
    const std::vector<std::vector<Figure>> tree(10, {{"idle", "BPF timer", "%", {1}, {}}, times(1)});
    const auto rows = compare_rounds(base, tree);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].why, "BASE: another version");
    EXPECT_EQ(rows[1].why, "not measured for BASE");
    EXPECT_NE(table_of(rows).find("idle: BPF timer, median"), std::string::npos);
    EXPECT_EQ(document_of(rows, "make bench-compare")["figures"][1]["why"], "not measured for BASE");
}

TEST(ComparedRounds, MakeATableWithAlignedColumns) {
    const std::vector<std::vector<Figure>> base(10, {times(1), {"decide", std::string(50, 'x'), "us", {5}, {}}});
    const auto table = table_of(compare_rounds(base, base));
    std::istringstream lines(table);
    std::string line;
    std::getline(lines, line);
    const auto end = line.find("verdict");
    int rows = 0;
    while (std::getline(lines, line)) {
        EXPECT_EQ(line.find("no difference seen"), end) << table;
        rows++;
    }
    EXPECT_EQ(rows, 3);
}

// A round that one side could not measure has no pair; the others count.
TEST(ComparedRounds, LeaveOutARoundWithoutItsPair) {
    std::vector<std::vector<Figure>> base(8, {times(1)});
    const std::vector<std::vector<Figure>> tree(8, {times(1)});
    base[5].clear();
    const auto rows = compare_rounds(base, tree);
    ASSERT_FALSE(rows.empty());
    EXPECT_EQ(rows[0].rounds, 7U);
    EXPECT_EQ(word_for(rows[0]), "no difference seen");
}

}  // namespace
}  // namespace evictd::bench

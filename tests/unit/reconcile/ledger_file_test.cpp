// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/ledger_file.hpp"

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fakes/temp_dir.hpp"

namespace evictd::reconcile {
namespace {

namespace fs = std::filesystem;

std::string text_in(const std::string& path) { return read_ledger(path).value().value_or("(none)"); }

TEST(LedgerFile, IsReadAsItWasWrittenWhateverItsSize) {
    const fakes::TempDir temp;
    const std::string path = temp / "state/ledger";
    EXPECT_EQ(text_in(path), "(none)");
    const std::string huge(std::size_t{20} << 20U, 'x');
    ASSERT_TRUE(write_ledger(path, huge));
    EXPECT_EQ(text_in(path), huge);
    ASSERT_TRUE(write_ledger(path, "two\n"));
    EXPECT_EQ(text_in(path), "two\n");
    ASSERT_TRUE(write_ledger(path, ""));
    EXPECT_EQ(text_in(path), "(none)");
    EXPECT_TRUE(fs::is_empty(temp / "state"));
    EXPECT_TRUE(write_ledger(path, ""));
}

// The guard of a dead agent and the next agent, as if nothing kept them apart.
TEST(LedgerFile, TwoWritersNeverMixTheirTexts) {
    const fakes::TempDir temp;
    const std::string path = temp / "ledger";
    std::vector<std::thread> writers;
    for (const char letter : {'a', 'b'}) {
        writers.emplace_back([&path, letter] {
            for (int round = 0; round < 300; round++) {
                EXPECT_TRUE(write_ledger(path, std::string(20'000, letter)));
            }
        });
    }
    for (int round = 0; round < 300; round++) {
        const auto text = read_ledger(path);
        ASSERT_TRUE(text) << text.error().text();
        const std::string& read = text->value_or("");
        EXPECT_TRUE(read.empty() || read == std::string(20'000, read[0])) << read.size();
    }
    for (auto& writer : writers) writer.join();
    EXPECT_EQ(std::distance(fs::directory_iterator(temp.path()), {}), 1) << "nothing half-written is left";
}

TEST(LedgerFile, LinksAreNeitherWrittenNorReadThrough) {
    const fakes::TempDir temp;
    temp.write("elsewhere/precious", "text");
    fs::create_directory(temp / "state");
    fs::create_symlink(temp / "elsewhere/precious", temp / "state/ledger");
    EXPECT_FALSE(read_ledger(temp / "state/ledger"));
    ASSERT_TRUE(write_ledger(temp / "state/ledger", "ours\n"));
    EXPECT_FALSE(fs::is_symlink(temp / "state/ledger"));
    EXPECT_EQ(fs::file_size(temp / "elsewhere/precious"), 4U);
    fs::create_directory_symlink(temp / "elsewhere", temp / "linked");
    EXPECT_FALSE(write_ledger(temp / "linked/ledger", "ours\n"));
    EXPECT_FALSE(fs::exists(temp / "elsewhere/ledger"));
}

TEST(LedgerFile, ADirectoryThatOthersCanWriteToIsRefused) {
    const fakes::TempDir temp;
    fs::create_directory(temp / "state");
    ASSERT_EQ(::chmod((temp / "state").c_str(), 0777), 0);
    EXPECT_FALSE(write_ledger(temp / "state/ledger", "ours\n"));
    EXPECT_FALSE(read_ledger(temp / "state/ledger"));
}

TEST(LedgerFile, ABrokenOneIsSetAside) {
    const fakes::TempDir temp;
    ASSERT_TRUE(write_ledger(temp / "ledger", "what?"));
    ASSERT_TRUE(set_aside(temp / "ledger"));
    EXPECT_EQ(text_in(temp / "ledger"), "(none)");
    EXPECT_EQ(text_in(temp / "ledger.broken"), "what?");
}

}  // namespace
}  // namespace evictd::reconcile

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/memory_file.hpp"

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

std::string text_in(const std::string& path) { return remembered_text(path).value().value_or("(none)"); }

TEST(MemoryFile, IsReadAsItWasWrittenWhateverItsSize) {
    const fakes::TempDir temp;
    const std::string path = temp / "state/ledger";
    EXPECT_EQ(text_in(path), "(none)");
    const std::string huge(std::size_t{20} << 20U, 'x');
    ASSERT_TRUE(remember_text(path, huge));
    EXPECT_EQ(text_in(path), huge);
    ASSERT_TRUE(remember_text(path, "two\n"));
    EXPECT_EQ(text_in(path), "two\n");
    ASSERT_TRUE(remember_text(path, ""));
    EXPECT_EQ(text_in(path), "(none)");
    EXPECT_TRUE(fs::is_empty(temp / "state"));
    EXPECT_TRUE(remember_text(path, ""));
}

// The guard of a dead agent and the next agent, as if nothing kept them apart.
TEST(MemoryFile, TwoWritersNeverMixTheirTexts) {
    const fakes::TempDir temp;
    const std::string path = temp / "ledger";
    std::vector<std::thread> writers;
    for (const char letter : {'a', 'b'}) {
        writers.emplace_back([&path, letter] {
            for (int round = 0; round < 300; round++) {
                EXPECT_TRUE(remember_text(path, std::string(20'000, letter)));
            }
        });
    }
    for (int round = 0; round < 300; round++) {
        const auto text = remembered_text(path);
        ASSERT_TRUE(text) << text.error().text();
        const std::string& read = text->value_or("");
        EXPECT_TRUE(read.empty() || read == std::string(20'000, read[0])) << read.size();
    }
    for (auto& writer : writers) writer.join();
    EXPECT_EQ(std::distance(fs::directory_iterator(temp.path()), {}), 1) << "nothing half-written is left";
}

TEST(MemoryFile, LinksAreNeitherWrittenNorReadThrough) {
    const fakes::TempDir temp;
    temp.write("elsewhere/precious", "text");
    fs::create_directory(temp / "state");
    fs::create_symlink(temp / "elsewhere/precious", temp / "state/ledger");
    EXPECT_FALSE(remembered_text(temp / "state/ledger"));
    ASSERT_TRUE(remember_text(temp / "state/ledger", "ours\n"));
    EXPECT_FALSE(fs::is_symlink(temp / "state/ledger"));
    EXPECT_EQ(fs::file_size(temp / "elsewhere/precious"), 4U);
    fs::create_directory_symlink(temp / "elsewhere", temp / "linked");
    EXPECT_FALSE(remember_text(temp / "linked/ledger", "ours\n"));
    EXPECT_FALSE(fs::exists(temp / "elsewhere/ledger"));
}

TEST(MemoryFile, ADirectoryThatOthersCanWriteToIsRefused) {
    const fakes::TempDir temp;
    fs::create_directory(temp / "state");
    ASSERT_EQ(::chmod((temp / "state").c_str(), 0777), 0);
    EXPECT_FALSE(remember_text(temp / "state/ledger", "ours\n"));
    EXPECT_FALSE(remembered_text(temp / "state/ledger"));
}

TEST(MemoryFile, ABrokenOneIsSetAside) {
    const fakes::TempDir temp;
    ASSERT_TRUE(remember_text(temp / "ledger", "what?"));
    ASSERT_TRUE(set_aside(temp / "ledger"));
    EXPECT_EQ(text_in(temp / "ledger"), "(none)");
    EXPECT_EQ(text_in(temp / "ledger.broken"), "what?");
}

}  // namespace
}  // namespace evictd::reconcile

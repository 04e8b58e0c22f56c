// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/sibling.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fakes/temp_dir.hpp"

namespace evictd::sys {
namespace {

using testing::HasSubstr;

class SiblingProgram : public testing::Test {
protected:
    std::string program(mode_t mode) {
        const std::string path = directory / "program";
        std::ofstream(path) << "#!/bin/true\n";
        EXPECT_EQ(::chmod(path.c_str(), mode), 0);
        return path;
    }
    fakes::TempDir directory;
};

TEST_F(SiblingProgram, OfTheSameOwnerIsExecuted) { EXPECT_TRUE(check_program(program(0755), ::geteuid(), 0755)); }

TEST_F(SiblingProgram, ThatIsNotThereIsNamedWithARemedy) {
    const auto safe = check_program(directory / "nothing", ::geteuid(), 0755);
    ASSERT_FALSE(safe);
    EXPECT_EQ(safe.error().text(), (directory / "nothing") + ": not installed (install it there; 'make install' does)");
}

TEST_F(SiblingProgram, ThatMoreUsersCanWriteIsRefused) {
    EXPECT_FALSE(check_program(program(0775), ::geteuid(), 0755));
    EXPECT_TRUE(check_program(program(0775), ::geteuid(), 0775));
    EXPECT_FALSE(check_program(program(0757), ::geteuid(), 0775));
}

TEST_F(SiblingProgram, OfAnotherUserIsRefused) {
    const std::string path = program(0755);
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    if (status.st_uid == 0 && ::chown(path.c_str(), 65534, 65534) != 0) {
        GTEST_SKIP() << "needs CAP_CHOWN";
    }
    EXPECT_FALSE(check_program(path, status.st_uid == 0 ? 0 : status.st_uid + 1, 0755));
}

TEST_F(SiblingProgram, IsNoLinkNoDirectoryAndNoPlainFile) {
    std::filesystem::create_symlink("/bin/true", directory / "link");
    EXPECT_FALSE(check_program(directory / "link", 0, 0755));
    EXPECT_FALSE(check_program(directory.path().string(), ::geteuid(), 0777));
    EXPECT_FALSE(check_program(program(0644), ::geteuid(), 0755));
}

TEST_F(SiblingProgram, LiesInTheDirectoryOfTheRunningProgram) {
    const auto own = std::filesystem::read_symlink("/proc/self/exe");
    EXPECT_EQ(sibling_program(own.filename()).value_or("none"), own.string());
    const auto missing = sibling_program("no-such-program");
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().what, HasSubstr(own.parent_path().string() + "/no-such-program"));
}

TEST(SourceProgram, LiesInTheDirectoryAboveThatOfTheRunningProgram) {
    const auto own = std::filesystem::read_symlink("/proc/self/exe");
    const auto beside = own.parent_path().filename() / own.filename();
    EXPECT_EQ(source_program(beside).value_or("none"), own.string());
    const auto missing = source_program("tests/no-such-script");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().what, (own.parent_path().parent_path() / "tests/no-such-script").string());
}

}  // namespace
}  // namespace evictd::sys

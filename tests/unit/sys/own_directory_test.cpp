// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/own_directory.hpp"

#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fakes/temp_dir.hpp"

namespace evictd::sys {
namespace {

namespace fs = std::filesystem;

mode_t mode_of(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

std::string why(const Result<Fd>& opened) { return opened ? "" : opened.error().text(); }

TEST(OwnDirectory, IsMadeWithItsParentsForTheOwnerOnly) {
    const fakes::TempDir temp;
    const mode_t before = ::umask(0);
    const auto opened = make_own_directories(temp / "run/evictd/locks", Access::only_ours);
    (void)::umask(before);
    ASSERT_TRUE(opened) << why(opened);
    EXPECT_EQ(mode_of(temp / "run"), 0700U);
    EXPECT_EQ(mode_of(temp / "run/evictd/locks"), 0700U);
    EXPECT_EQ(::faccessat(opened->get(), ".", R_OK, 0), 0);
    EXPECT_TRUE(open_own_directory(temp / "run/evictd/locks/", Access::only_ours, false));
}

TEST(OwnDirectory, ParentsAreNotMadeUnasked) {
    const fakes::TempDir temp;
    EXPECT_FALSE(open_own_directory(temp / "run/evictd", Access::only_ours));
    EXPECT_FALSE(fs::exists(temp / "run"));
    EXPECT_FALSE(open_own_directory(temp / "evictd", Access::only_ours, false));
    EXPECT_FALSE(fs::exists(temp / "evictd"));
}

TEST(OwnDirectory, OneThatOthersCanEnterOrChangeIsRefusedWithTheRemedy) {
    const fakes::TempDir temp;
    const std::string path = temp / "evictd";
    fs::create_directory(path);
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
    EXPECT_NE(why(open_own_directory(path, Access::only_ours)).find("chmod 0700 " + path), std::string::npos);
    EXPECT_TRUE(open_own_directory(path, Access::readable));
    for (const mode_t mode : {0775U, 0757U, 01777U}) {
        ASSERT_EQ(::chmod(path.c_str(), mode), 0);
        EXPECT_NE(why(open_own_directory(path, Access::readable)).find("others may write to it"), std::string::npos);
    }
}

TEST(OwnDirectory, ASymbolicLinkInItsPlaceIsNotFollowed) {
    const fakes::TempDir temp;
    fs::create_directory(temp / "foreign");
    ASSERT_EQ(::chmod((temp / "foreign").c_str(), 0700), 0);
    fs::create_symlink(temp / "foreign", temp / "evictd");
    EXPECT_NE(why(open_own_directory(temp / "evictd", Access::only_ours)).find("is a symbolic link"),
              std::string::npos);
    // Above it, a link of our own leads where we said.
    EXPECT_TRUE(open_own_directory(temp / "evictd/below", Access::only_ours));
    EXPECT_TRUE(fs::exists(temp / "foreign/below"));
}

TEST(OwnDirectory, AParentThatOthersCanWriteToIsRefusedUnlessItIsSticky) {
    const fakes::TempDir temp;
    fs::create_directory(temp / "shared");
    ASSERT_EQ(::chmod((temp / "shared").c_str(), 0777), 0);
    EXPECT_NE(why(open_own_directory(temp / "shared/evictd", Access::only_ours)).find("chmod go-w"), std::string::npos);
    ASSERT_EQ(::chmod((temp / "shared").c_str(), 01777), 0);
    EXPECT_TRUE(open_own_directory(temp / "shared/evictd", Access::only_ours));
}

TEST(OwnDirectory, WhatBelongsToAnotherUserIsRefused) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to give a directory away";
    const fakes::TempDir temp;
    const std::string path = temp / "evictd";
    fs::create_directory(path);
    ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
    ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
    EXPECT_NE(why(open_own_directory(path, Access::only_ours)).find("belongs to user 65534"), std::string::npos);
    EXPECT_NE(why(open_own_directory(path + "/below", Access::only_ours)).find("belongs to user 65534"),
              std::string::npos);
    fs::create_symlink("/run", temp / "link");
    ASSERT_EQ(::lchown((temp / "link").c_str(), 65534, 65534), 0);
    EXPECT_NE(why(open_own_directory(temp / "link/evictd", Access::only_ours, false)).find("link of user 65534"),
              std::string::npos);
}

TEST(OwnDirectory, AFileOrARelativePathIsNone) {
    const fakes::TempDir temp;
    temp.write("file", "");
    EXPECT_NE(why(open_own_directory(temp / "file", Access::readable)).find("is not a directory"), std::string::npos);
    EXPECT_NE(why(open_own_directory(temp / "file/x", Access::readable)).find("is not a directory"), std::string::npos);
    for (const std::string path : {"", "evictd", "/", "//", "/tmp/../evictd"}) {
        EXPECT_FALSE(open_own_directory(path, Access::readable)) << path;
    }
}

}  // namespace
}  // namespace evictd::sys

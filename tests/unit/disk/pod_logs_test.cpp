// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which logs there are, and that nothing but a log is removed, and never one that is written to.
#include "disk/pod_logs.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fakes/temp_dir.hpp"

namespace evictd::disk {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
namespace fs = std::filesystem;

class PodLogsTest : public testing::Test {
protected:
    PodLogsTest() {
        fs::create_directories(dir / "pods");
        fs::create_directories(dir / "containers");
    }
    [[nodiscard]] std::string path(const std::string& below) const { return dir / below; }
    [[nodiscard]] bool is_there(const std::string& below) const { return fs::exists(fs::symlink_status(path(below))); }
    ErrorKind refused(GarbageKind kind, const std::string& id) {
        const auto removed = logs.remove(kind, id);
        EXPECT_FALSE(removed) << id;
        return removed ? ErrorKind::failed : removed.error().kind;
    }
    fakes::TempDir dir;
    PodLogs logs{{dir / "pods", dir / "containers"}};
};

TEST_F(PodLogsTest, AreListed) {
    dir.write("pods/default_web_uid-1/main/0.log", "live");
    dir.write("pods/default_web_uid-1/main/0.log.20261125-150405", std::string(5000, 'x'));
    dir.write("pods/default_web_uid-1/main/0.log.20261125-160405.gz", "packed");
    dir.write("pods/default_web_uid-1/main/0.log.20261125-170405.tmp", "being packed");
    dir.write("pods/default_db_uid-2/main/0.log", "live");
    fs::create_symlink(path("pods/default_web_uid-1/main/0.log"), path("containers/web_default_main-aaa.log"));
    fs::create_symlink(path("pods/gone"), path("containers/old_default_main-bbb.log"));
    dir.write("containers/no_link", "");
    const auto list = logs.list();
    EXPECT_THAT(list.directories, ElementsAre("default_db_uid-2", "default_web_uid-1"));
    ASSERT_EQ(list.links.size(), 2U);
    EXPECT_EQ(list.links[0].container, "bbb");
    EXPECT_TRUE(list.links[0].dangling);
    EXPECT_EQ(list.links[1].path, path("containers/web_default_main-aaa.log"));
    EXPECT_FALSE(list.links[1].dangling);
    ASSERT_EQ(list.rotated.size(), 2U);
    EXPECT_EQ(list.rotated[0].path, path("pods/default_web_uid-1/main/0.log.20261125-150405"));
    EXPECT_EQ(list.rotated[0].directory, "default_web_uid-1");
    EXPECT_EQ(list.rotated[0].container, "main");
    EXPECT_GE(list.rotated[0].size, Bytes{4096});
    EXPECT_EQ(list.trouble, "");
}

TEST_F(PodLogsTest, NoDirectoriesOfLogsAreNoTrouble) {
    fs::remove_all(path("pods"));
    fs::remove_all(path("containers"));
    const auto list = logs.list();
    EXPECT_THAT(list.directories, IsEmpty());
    EXPECT_EQ(list.trouble, "");
}

TEST_F(PodLogsTest, WhatCannotBeListedIsTrouble) {
    fs::remove_all(path("containers"));
    dir.write("containers", "a file");
    EXPECT_NE(logs.list().trouble, "");
}

TEST_F(PodLogsTest, ALinkInPlaceOfADirectoryIsNotFollowed) {
    dir.write("elsewhere/main/0.log.20261125-150405", "precious");
    fs::create_directory_symlink(path("elsewhere"), path("pods/default_web_uid-1"));
    fs::create_directories(path("pods/default_web_uid-2"));
    fs::create_directory_symlink(path("elsewhere/main"), path("pods/default_web_uid-2/main"));
    EXPECT_THAT(logs.list().rotated, IsEmpty());
    EXPECT_EQ(refused(GarbageKind::log_directory, "default_web_uid-1"), ErrorKind::invalid);
    (void)logs.remove(GarbageKind::rotated_log, path("pods/default_web_uid-1/main/0.log.20261125-150405"));
    ASSERT_TRUE(logs.remove(GarbageKind::log_directory, "default_web_uid-2"));
    EXPECT_FALSE(is_there("pods/default_web_uid-2"));
    EXPECT_TRUE(is_there("elsewhere/main/0.log.20261125-150405"));
}

TEST_F(PodLogsTest, ADirectoryIsRemovedWithAllThatIsInIt) {
    std::string deep = "pods/default_web_uid-1";
    for (int i = 0; i < 300; i++) deep += "/d";
    dir.write(deep + "/file", "");
    dir.write("pods/default_web_uid-1/main/0.log", "");
    dir.write("pods/default_web_uid-1/main/\n\xff", "");
    dir.write("pods/default_web_uid-1/init/0.log", "");
    ASSERT_TRUE(logs.remove(GarbageKind::log_directory, "default_web_uid-1"));
    EXPECT_FALSE(is_there("pods/default_web_uid-1"));
    EXPECT_TRUE(is_there("pods"));
    EXPECT_EQ(refused(GarbageKind::log_directory, "default_web_uid-1"), ErrorKind::vanished);
}

TEST_F(PodLogsTest, NothingButALogsDirectoryIsRemovedAsOne) {
    dir.write("elsewhere/file", "");
    dir.write("pods/file", "");
    for (const std::string name : {"", ".", "..", "../elsewhere", "a/b", "file"}) {
        EXPECT_EQ(refused(GarbageKind::log_directory, name), ErrorKind::invalid) << name;
    }
    EXPECT_TRUE(is_there("elsewhere/file"));
    EXPECT_TRUE(is_there("pods/file"));
}

TEST_F(PodLogsTest, OnlyADanglingLinkGoes) {
    dir.write("pods/default_web_uid-1/main/0.log", "live");
    fs::create_symlink(path("pods/default_web_uid-1/main/0.log"), path("containers/web-aaa.log"));
    fs::create_symlink(path("pods/gone"), path("containers/old-bbb.log"));
    dir.write("containers/file-ccc.log", "");
    EXPECT_EQ(refused(GarbageKind::log_link, path("containers/web-aaa.log")), ErrorKind::invalid);
    EXPECT_EQ(refused(GarbageKind::log_link, path("containers/file-ccc.log")), ErrorKind::invalid);
    EXPECT_EQ(refused(GarbageKind::log_link, path("containers/../pods/x")), ErrorKind::invalid);
    EXPECT_EQ(refused(GarbageKind::log_link, "/etc/localtime"), ErrorKind::invalid);
    ASSERT_TRUE(logs.remove(GarbageKind::log_link, path("containers/old-bbb.log")));
    EXPECT_FALSE(is_there("containers/old-bbb.log"));
    EXPECT_EQ(refused(GarbageKind::log_link, path("containers/old-bbb.log")), ErrorKind::vanished);
}

TEST_F(PodLogsTest, ALiveLogIsNeverRemoved) {
    dir.write("pods/default_web_uid-1/main/0.log", "live");
    dir.write("pods/default_web_uid-1/main/0.log.20261125-150405", "rotated");
    dir.write("pods/default_web_uid-1/main/0.log.20261125-150405.tmp", "being packed");
    dir.write("elsewhere/0.log.20261125-150405", "precious");
    const std::string main = path("pods/default_web_uid-1/main/");
    for (const std::string& wrong :
         {main + "0.log", main + "0.log.20261125-150405.tmp", main, path("elsewhere/0.log.20261125-150405"),
          path("pods/../elsewhere/0.log.20261125-150405"), path("pods/default_web_uid-1/0.log.20261125-150405")}) {
        EXPECT_EQ(refused(GarbageKind::rotated_log, wrong), ErrorKind::invalid) << wrong;
    }
    ASSERT_TRUE(logs.remove(GarbageKind::rotated_log, main + "0.log.20261125-150405"));
    EXPECT_FALSE(is_there("pods/default_web_uid-1/main/0.log.20261125-150405"));
    EXPECT_TRUE(is_there("pods/default_web_uid-1/main/0.log"));
    EXPECT_TRUE(is_there("elsewhere/0.log.20261125-150405"));
}

TEST_F(PodLogsTest, WhatIsNoLogIsRefused) {
    for (const auto kind : {GarbageKind::container, GarbageKind::sandbox, GarbageKind::image}) {
        EXPECT_EQ(refused(kind, "id"), ErrorKind::invalid);
    }
}

}  // namespace
}  // namespace evictd::disk

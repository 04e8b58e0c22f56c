// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which logs there are, and that nothing but a log is removed, and never one that is written to.
#include "disk/pod_logs.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fakes/temp_dir.hpp"

namespace evictd::disk {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;
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
    // The live one was written to for the last time when the rotated one was a minute old.
    void rotate(const std::string& container, const std::string& name, const std::string& text = "rotated") {
        dir.write(container + "/" + name, text);
        dir.write(container + "/0.log", "live");
        written(container + "/" + name, -2min);
        written(container + "/0.log", -1min);
    }
    void written(const std::string& below, std::chrono::seconds since_now) const {
        fs::last_write_time(path(below), fs::file_time_type::clock::now() + since_now);
    }
    fakes::TempDir dir;
    PodLogs logs{{dir / "pods", dir / "containers"}};
};

TEST_F(PodLogsTest, AreListed) {
    rotate("pods/default_web_uid-1/main", "0.log.20261125-150405", std::string(5000, 'x'));
    rotate("pods/default_web_uid-1/main", "0.log.20261125-160405.gz");
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

// A pod that has the directory of logs mounted.
TEST_F(PodLogsTest, OnePodsEntriesWithoutAnEndKeepNoOthersFromBeingListed) {
    for (int i = 0; i < 70'000; ++i) {
        const auto name = path("pods/a_bad_uid-1/main/" + std::to_string(i));
        if (i == 0) fs::create_directories(path("pods/a_bad_uid-1/main"));
        ASSERT_EQ(::mknod(name.c_str(), S_IFREG | 0600, 0), 0);
    }
    for (const std::string container : {"main", "next", "zzz"}) {
        rotate("pods/a_bad_uid-1/" + container, "0.log.20261125-150405");
    }
    rotate("pods/b_good_uid-2/main", "0.log.20261125-150405");
    const auto list = logs.list();
    ASSERT_FALSE(list.rotated.empty());
    EXPECT_LT(list.rotated.size(), 4U) << "of the bad one not all is read";
    EXPECT_EQ(list.rotated.back().directory, "b_good_uid-2");
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

TEST_F(PodLogsTest, OneThatIsTooLargeGoesInSeveralRemovals) {
    dir.write("pods/default_web_uid-1/main/0.log", "");
    PodLogs slow({dir / "pods", dir / "containers"}, 0s);
    const auto removed = slow.remove(GarbageKind::log_directory, "default_web_uid-1");
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().kind, ErrorKind::failed);
    EXPECT_THAT(removed.error().text(), testing::HasSubstr("the next removal goes on"));
    ASSERT_TRUE(logs.remove(GarbageKind::log_directory, "default_web_uid-1"));
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
    rotate("pods/default_web_uid-1/main", "0.log.20261125-150405");
    rotate("pods/default_web_uid-1/main", "0.log.20261125-150405.tmp");
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

// Between the kubelet's rename and the runtime's reopening the file with the rotated one's name is the live one.
TEST_F(PodLogsTest, ARotatedLogStaysUntilTheRuntimeHasOpenedAnother) {
    const std::string main = "pods/default_web_uid-1/main";
    const std::string name = "0.log.20261125-150405";
    const auto stays = [&](const char* why) {
        EXPECT_THAT(logs.list().rotated, IsEmpty()) << why;
        EXPECT_EQ(refused(GarbageKind::rotated_log, path(main + "/" + name)), ErrorKind::invalid) << why;
        EXPECT_TRUE(is_there(main + "/" + name)) << why;
    };
    dir.write(main + "/" + name, "written until now");
    stays("there is no other");
    written(main + "/" + name, -1h);
    stays("there is no other: a runtime that hangs has not opened it, and the container may be silent");
    fs::create_hard_link(path(main + "/" + name), path(main + "/0.log"));
    stays("the other is itself");
    fs::remove(path(main + "/0.log"));
    fs::create_symlink(path(main + "/" + name), path(main + "/0.log"));
    stays("the other is a link");
    fs::remove(path(main + "/0.log"));
    dir.write(main + "/0.log", "");
    written(main + "/0.log", -2h);
    written(main + "/" + name, 1h);
    stays("it was written to after the other");
    written(main + "/0.log", 2h);
    ASSERT_EQ(logs.list().rotated.size(), 1U) << "the other was written to after it";
    written(main + "/0.log", -2h);
    written(main + "/" + name, -61s);
    ASSERT_EQ(logs.list().rotated.size(), 1U) << "no write for a minute";
    ASSERT_TRUE(logs.remove(GarbageKind::rotated_log, path(main + "/" + name)));
}

TEST_F(PodLogsTest, ALinkIsJudgedOnlyByADirectoryThatCanBeSeen) {
    fs::create_symlink("/not/mounted/in/this/container/0.log", path("containers/a_b_c-1.log"));
    fs::create_symlink("../pods/gone/0.log", path("containers/a_b_c-2.log"));
    fs::create_symlink(path("pods/../gone/0.log"), path("containers/a_b_c-3.log"));
    fs::create_symlink(path("pods/gone/0.log"), path("containers/a_b_c-4.log"));
    const auto dangling = [&] {
        std::vector<std::string> ids;
        for (const auto& link : logs.list().links) {
            if (link.dangling) ids.push_back(link.container);
        }
        return ids;
    };
    EXPECT_THAT(dangling(), IsEmpty()) << "an empty directory may be that of an image";
    EXPECT_EQ(refused(GarbageKind::log_link, path("containers/a_b_c-4.log")), ErrorKind::invalid);
    fs::create_directories(path("pods/default_web_uid-1"));
    EXPECT_THAT(dangling(), ElementsAre("4"));
    for (const char* id : {"1", "2", "3"}) {
        EXPECT_EQ(refused(GarbageKind::log_link, path("containers/a_b_c-" + std::string(id) + ".log")),
                  ErrorKind::invalid);
    }
    fs::create_symlink("/not/mounted/there", path("pods/default_web_uid-1/0.log"));
    fs::create_symlink(path("pods/default_web_uid-1/0.log"), path("containers/a_b_c-5.log"));
    EXPECT_THAT(dangling(), ElementsAre("4")) << "what another runtime writes itself is behind one more link";
    ASSERT_TRUE(logs.remove(GarbageKind::log_link, path("containers/a_b_c-4.log")));
    fs::remove_all(path("pods"));
    dir.write("pods", "a file");
    fs::create_symlink(path("pods/gone/0.log"), path("containers/a_b_c-4.log"));
    EXPECT_THAT(dangling(), IsEmpty()) << "it could not be listed";
}

TEST_F(PodLogsTest, WhatIsNoLogIsRefused) {
    for (const auto kind : {GarbageKind::container, GarbageKind::sandbox, GarbageKind::image}) {
        EXPECT_EQ(refused(kind, "id"), ErrorKind::invalid);
    }
}

}  // namespace
}  // namespace evictd::disk

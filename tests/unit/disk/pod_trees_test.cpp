// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/pod_trees.hpp"

#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fakes/temp_dir.hpp"

namespace evictd::disk {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

const std::function<void()> nobody_waits = [] {};

class PodTrees : public testing::Test {
protected:
    PodTrees() {
        fs::create_directories(dir / "pods");
        fs::create_directories(dir / "logs");
    }
    [[nodiscard]] PodDirectories directories() const { return {dir / "pods", dir / "logs"}; }
    [[nodiscard]] std::vector<std::string> listed() const {
        std::vector<std::string> lines;
        for (const auto& tree : list_trees(directories(), nobody_waits).trees) {
            lines.push_back(tree.pod.value + " " + std::string(name(tree.kind)) + " " + tree.name);
        }
        return lines;
    }
    fakes::TempDir dir;
};

TEST_F(PodTrees, AreLocalVolumesLogsAndEtcHosts) {
    dir.write("pods/uid-1/volumes/kubernetes.io~empty-dir/cache/file", "");
    dir.write("pods/uid-1/volumes/kubernetes.io~empty-dir/work/file", "");
    dir.write("pods/uid-1/volumes/kubernetes.io~configmap/settings/..data", "");
    dir.write("pods/uid-1/volumes/kubernetes.io~git-repo/source/file", "");
    dir.write("pods/uid-1/volumes/kubernetes.io~secret/token/file", "");
    dir.write("pods/uid-1/volumes/kubernetes.io~projected/kube-api-access/file", "");
    dir.write("pods/uid-1/volumes/kubernetes.io~nfs/share/file", "");
    dir.write("pods/uid-1/volumes/kubernetes.io~csi/claim/mount/file", "");
    dir.write("pods/uid-1/etc-hosts", "");
    dir.write("logs/default_web_uid-1/main/0.log", "");
    dir.write("logs/default_web_uid-1/init/0.log", "");
    EXPECT_THAT(listed(),
                testing::UnorderedElementsAre("uid-1 emptyDir cache", "uid-1 emptyDir work", "uid-1 configMap settings",
                                              "uid-1 gitRepo source", "uid-1 etcHosts ", "uid-1 podLogs ",
                                              "uid-1 containerLogs init", "uid-1 containerLogs main"));
    EXPECT_EQ(list_trees(directories(), nobody_waits).trouble, "");
}

TEST_F(PodTrees, WhatIsNotNamedLikeAPodsLogsIsNone) {
    dir.write("logs/audit/0.log", "");
    dir.write("logs/trailing_/0.log", "");
    dir.write("logs/file", "");
    EXPECT_THAT(listed(), IsEmpty());
}

TEST_F(PodTrees, APodWithoutVolumesHasNone) {
    fs::create_directories(dir / "pods/uid-1");
    EXPECT_THAT(listed(), IsEmpty());
    EXPECT_EQ(list_trees(directories(), nobody_waits).trouble, "");
}

// Absence is proved: a directory that cannot be read may hold pods.
TEST_F(PodTrees, AMissingOrUnreadableDirectoryIsNotAnEmptyOne) {
    fs::remove(dir / "pods");
    EXPECT_EQ(list_trees(directories(), nobody_waits).trouble, dir / "pods" + ": No such file or directory");
    fs::create_directory_symlink("/", dir / "pods");
    fs::create_directories(dir / "logs/default_web_uid-1");
    fs::create_directory_symlink("/", dir / "logs/default_web_uid-2");
    const auto listing = list_trees(directories(), nobody_waits);  // a link of root's is followed at the top only
    EXPECT_EQ(listing.trees.size(), 1U);
    EXPECT_EQ(listing.trees.front().pod.value, "uid-1");
}

TEST_F(PodTrees, ALinkInThePlaceOfATreeIsNotFollowed) {
    dir.write("outside/file", "text");
    const TreePlace logs{{"uid-1"}, TreeKind::container_logs, "main", "default_web_uid-1/main"};
    fs::create_directories(dir / "logs/default_web_uid-1");
    fs::create_directory_symlink("/", dir / "logs/default_web_uid-1/main");
    EXPECT_THAT(open_tree(directories(), logs).error().text(), HasSubstr("default_web_uid-1/main: "));
    // One above is no better.
    fs::remove_all(dir / "logs/default_web_uid-1");
    fs::create_directories(dir / "outside/main");
    fs::create_directory_symlink(dir / "outside", dir / "logs/default_web_uid-1");
    EXPECT_FALSE(open_tree(directories(), logs));
    const TreePlace hosts{{"uid-1"}, TreeKind::etc_hosts, {}, "uid-1/etc-hosts"};
    fs::create_directories(dir / "pods/uid-1");
    fs::create_symlink("/etc/hosts", dir / "pods/uid-1/etc-hosts");
    const auto link = open_tree(directories(), hosts);  // the link itself, as du has it
    struct stat status {};
    ASSERT_TRUE(link);
    ASSERT_EQ(::fstat(link->get(), &status), 0);
    EXPECT_TRUE(S_ISLNK(status.st_mode));
}

TEST_F(PodTrees, OpensWhatItListed) {
    dir.write("pods/uid-1/volumes/kubernetes.io~empty-dir/cache/file", "");
    dir.write("pods/uid-1/etc-hosts", "");
    dir.write("logs/default_web_uid-1/main/0.log", "");
    const auto listing = list_trees(directories(), nobody_waits);
    EXPECT_EQ(listing.trees.size(), 4U);
    for (const auto& tree : listing.trees) EXPECT_TRUE(open_tree(directories(), tree)) << tree.path;
}

TEST_F(PodTrees, OneThatVanishedIsSaidToBe) {
    const auto opened = open_tree(directories(), {{"uid-1"}, TreeKind::empty_dir, "cache", "uid-1/volumes/x/cache"});
    EXPECT_EQ(opened.error().kind, ErrorKind::vanished);
}

}  // namespace
}  // namespace evictd::disk

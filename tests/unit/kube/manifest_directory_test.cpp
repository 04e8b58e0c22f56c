// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/manifest_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "manifest_directory_fixture.hpp"

namespace evictd::kube {
namespace {

TEST_F(ManifestDirectoryTest, ReadsManifestsInTheOrderOfTheirNamesAndIgnoresTheRest) {
    dir.write("b.yaml", manifest("b"));
    dir.write("a.yml", manifest("a"));
    dir.write("c.json", R"({"kind":"Pod","metadata":{"name":"c","uid":"uid-c"},"spec":{"containers":[{"name":"c"}]}})");
    for (const char* ignored : {".hidden.yaml", "a.yaml~", "#a.yaml#", ".a.yaml.swp", "4913", "README.md", ".#a.yaml"})
        dir.write(ignored, "not: a pod");
    dir.write("below/d.yaml", manifest("d"));
    const auto set = look();
    EXPECT_EQ(names(set), "a b c");
    EXPECT_TRUE(set.rejected.empty());
    EXPECT_EQ(set.pods[0]->source, dir / "a.yml");
}

TEST_F(ManifestDirectoryTest, OneBadFileLeavesTheOthers) {
    dir.write("a.yaml", manifest("a"));
    dir.write("broken.yaml", "kind: Pod\nmetadata: {name: b\nspec: x\n");
    dir.write("c.yaml", manifest("c"));
    const auto set = look();
    EXPECT_EQ(names(set), "a c");
    ASSERT_EQ(set.rejected.size(), 1U);
    EXPECT_EQ(set.rejected[0].what.substr(0, (dir / "broken.yaml:").size()), dir / "broken.yaml:");
}

TEST_F(ManifestDirectoryTest, AHugeFileIsRefused) {
    dir.write("huge.yaml", manifest("a") + "# " + std::string(largest_manifest, 'x'));
    EXPECT_EQ(rejected(), "huge.yaml: bigger than 1048576 bytes (split it into several files)");
}

TEST_F(ManifestDirectoryTest, ALinkOutOfTheDirectoryIsRefused) {
    const fakes::TempDir outside;
    outside.write("a.yaml", manifest("a"));
    const std::string refused =
        "link.yaml: symbolic link leads out of the directory (link to a path within it, relative to it, or copy the "
        "file)";
    std::filesystem::create_symlink(outside / "a.yaml", dir / "link.yaml");
    EXPECT_EQ(rejected(), refused);
    std::filesystem::remove(dir / "link.yaml");
    std::filesystem::create_symlink("../" + outside.path().filename().string() + "/a.yaml", dir / "link.yaml");
    EXPECT_EQ(rejected(), refused);
    std::filesystem::remove(dir / "link.yaml");
    std::filesystem::create_symlink("link.yaml", dir / "link.yaml");
    EXPECT_EQ(rejected(), refused);
    std::filesystem::remove(dir / "link.yaml");
    std::filesystem::create_symlink("gone", dir / "link.yaml");
    EXPECT_EQ(rejected(), "link.yaml: symbolic link leads nowhere (remove it)");
}

TEST_F(ManifestDirectoryTest, LinksWithinAsAMountedConfigMapHasThemAreFollowed) {
    dir.write("..2026_01_01/a.yaml", manifest("a"));
    std::filesystem::create_directory_symlink("..2026_01_01", dir / "..data");
    std::filesystem::create_symlink("..data/a.yaml", dir / "a.yaml");
    EXPECT_EQ(names(look()), "a");
    // The kubelet's way to change all files at once.
    dir.write("..2026_01_02/a.yaml", manifest("a2"));
    std::filesystem::create_directory_symlink("..2026_01_02", dir / "..data_tmp");
    std::filesystem::rename(dir / "..data_tmp", dir / "..data");
    EXPECT_EQ(names(look()), "a2");
}

TEST_F(ManifestDirectoryTest, WhatIsNoRegularFileIsRefusedWithoutWaiting) {
    const std::string refused = "odd.yaml: not a regular file (remove it, or give it another name)";
    ASSERT_EQ(::mkfifo((dir / "odd.yaml").c_str(), 0600), 0);
    EXPECT_EQ(rejected(), refused);
    std::filesystem::remove(dir / "odd.yaml");
    std::filesystem::create_directory(dir / "odd.yaml");
    EXPECT_EQ(rejected(), refused);
    std::filesystem::remove(dir / "odd.yaml");
    const sys::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    (dir / "odd.yaml").copy(&address.sun_path[0], sizeof(address.sun_path) - 1);
    ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(rejected(), "odd.yaml: not a regular file (remove it)");
}

TEST_F(ManifestDirectoryTest, AUidOfAnotherFileIsRefusedAndTheFirstByNameStays) {
    dir.write("b.yaml", manifest("b", "same"));
    dir.write("a.yaml", manifest("a", "same"));
    EXPECT_EQ(names(look()), "a");
    EXPECT_EQ(rejected(),
              "b.yaml:4: metadata.uid: same is already that of the pod in a.yaml:4 "
              "(a pod's uid is its own: remove one of the two)");
    std::filesystem::remove(dir / "a.yaml");
    EXPECT_EQ(names(look()), "b");
}

// What ran there before the directory went is no claim.
TEST_F(ManifestDirectoryTest, OfADirectoryThatCameBackTheFirstPodKeepsItsUid) {
    const auto pods = dir / "pods";
    ManifestDirectory some(pods, std::nullopt);
    dir.write("pods/b.yaml", manifest("b", "same"));
    EXPECT_EQ(names(some.look({})), "b");
    std::filesystem::remove_all(pods);
    EXPECT_EQ(names(some.look({})), "");
    dir.write("pods/a.yaml", manifest("a", "same"));
    dir.write("pods/b.yaml", manifest("b", "same"));
    EXPECT_EQ(names(some.look({})), "a");
}

// A file that sorts before the running pod's, and takes its uid.
TEST_F(ManifestDirectoryTest, AManifestThatRepeatsAUidDoesNotDisplaceThePodThatHasBeenThere) {
    dir.write("web.yaml", manifest("web", "same"));
    ASSERT_EQ(names(look()), "web");
    dir.write("a-thief.yaml", manifest("thief", "same"));
    EXPECT_EQ(rejected(),
              "a-thief.yaml:4: metadata.uid: same is already that of the pod in web.yaml:4 "
              "(a pod's uid is its own: remove one of the two)");
    EXPECT_EQ(names(look()), "web");
    dir.write("web.yaml", manifest("web", "same") + "# touched\n");
    directory.read_again("web.yaml");
    EXPECT_EQ(names(look()), "web") << "changed in place, it is still the same pod's";
    std::filesystem::remove(dir / "web.yaml");
    EXPECT_EQ(names(look()), "thief") << "then it is nobody else's";
    dir.write("web.yaml", manifest("web", "same"));
    EXPECT_EQ(names(look()), "thief");
}

TEST_F(ManifestDirectoryTest, AUidTwiceInOneFileIsRefusedToo) {
    dir.write("a.yaml", manifest("a", "same") + "---\n" + manifest("b", "same"));
    EXPECT_EQ(names(look()), "a");
    EXPECT_EQ(rejected().substr(0, 11), "a.yaml:12: ");
}

TEST_F(ManifestDirectoryTest, AnAliasBombIsRefused) {
    dir.write("bomb.yaml",
              "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
              "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
              "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n");
    EXPECT_EQ(rejected(),
              "bomb.yaml:6: there are more than 262144 values (is this a Pod manifest? Split it, and use no aliases "
              "of aliases)");
}

TEST_F(ManifestDirectoryTest, DeepNestingIsRefused) {
    dir.write("deep.yaml", std::string(1000, '[') + std::string(1000, ']'));
    EXPECT_EQ(rejected(), "deep.yaml:1: nested more than 64 deep (is this a Pod manifest?)");
}

TEST_F(ManifestDirectoryTest, AKeyGivenTwiceIsRefused) {
    dir.write("twice.yaml", "kind: Pod\nkind: Pod\n");
    EXPECT_EQ(rejected(), "twice.yaml:2: kind: given twice (the first is on line 1: keep one)");
}

TEST_F(ManifestDirectoryTest, AnEmptyFileIsNoFault) {
    dir.write("empty.yaml", "");
    EXPECT_EQ(rejected(), "0 rejected");
}

TEST_F(ManifestDirectoryTest, AMissingDirectoryIsNewsAndNotAFault) {
    ManifestDirectory missing(dir / "missing", {});
    const auto set = missing.look({});
    ASSERT_EQ(set.rejected.size(), 1U);
    EXPECT_EQ(set.rejected[0].kind, ErrorKind::vanished);
    EXPECT_EQ(set.rejected[0].text(),
              dir / "missing" + ": No such file or directory (it is watched for: make it, or name another directory)");
}

TEST_F(ManifestDirectoryTest, AnUnchangedFileIsNotReadAgain) {
    dir.write("a.yaml", manifest("a"));
    dir.write("b.yaml", manifest("b"));
    const auto before = look();
    dir.write("b.yaml", manifest("other"));
    const auto after = look();
    EXPECT_EQ(after.pods[0], before.pods[0]);
    EXPECT_EQ(after.pods[1]->name, "other");
    directory.read_again("a.yaml");
    EXPECT_NE(look().pods[0], before.pods[0]);
}

TEST_F(ManifestDirectoryTest, WhatIsBeingWrittenIsAsItWasBefore) {
    dir.write("a.yaml", manifest("a"));
    const auto before = look();
    dir.write("a.yaml", without_uid);
    dir.write("b.yaml", without_uid);
    const auto set = directory.look({"a.yaml", "b.yaml"});
    EXPECT_EQ(names(set), "a");
    EXPECT_TRUE(set.rejected.empty());
    EXPECT_EQ(look().rejected.size(), 2U);
}

TEST_F(ManifestDirectoryTest, TheOriginIsForced) {
    dir.write("a.yaml", manifest("a"));
    ManifestDirectory static_pods(dir.path(), PodOrigin::static_file);
    EXPECT_EQ(static_pods.look({}).pods.at(0)->origin, PodOrigin::static_file);
}

TEST_F(ManifestDirectoryTest, AnUnreadableFileIsReported) {
    if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
    dir.write("a.yaml", manifest("a"));
    ASSERT_EQ(names(look()), "a");
    std::filesystem::permissions(dir / "a.yaml", std::filesystem::perms::none);
    directory.read_again("a.yaml");
    const auto set = look();
    EXPECT_EQ(names(set), "a");
    EXPECT_EQ(texts(set.unread),
              "a.yaml: Permission denied; its pods are kept as they were (let evictd's user read it)");
}

}  // namespace
}  // namespace evictd::kube

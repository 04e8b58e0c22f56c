// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Manifests that cannot be read keep their pods.
#include <cerrno>
#include <filesystem>
#include <string>
#include <tuple>

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "fakes/failing_syscalls.hpp"
#include "manifest_directory_fixture.hpp"

namespace evictd::kube {
namespace {

// What a look finds while a system call fails, after "a" and "b" were read and have to be read again.
class UnreadManifests : public ManifestDirectoryTest {
protected:
    void SetUp() override {
        dir.write("a.yaml", manifest("a"));
        dir.write("b.yaml", manifest("b") + "---\n" + without_uid);
        ASSERT_EQ(names(look()), "a b");
    }
    port::PodSet look_with_failing(long number, int error_number) {
        directory.read_all_again();
        port::PodSet set;
        if (!fakes::with_failing(number, error_number, [&] { set = look(); })) ADD_FAILURE() << "no seccomp here";
        return set;
    }
};

TEST_F(UnreadManifests, AFileThatCannotBeReadKeepsItsPodsAndItsFaults) {
    struct Case {
        long number;
        int error_number;
        const char* says;
    };
    for (const auto& one :
         {Case{SYS_openat2, ENFILE, "Too many open files in system"}, Case{SYS_openat2, EMFILE, "Too many open files"},
          Case{SYS_openat2, ENOMEM, "Cannot allocate memory"},
          Case{SYS_openat2, EAGAIN, "Resource temporarily unavailable"},
          Case{SYS_openat2, ENXIO, "No such device or address"}, Case{SYS_openat2, ENOENT, "No such file or directory"},
          Case{SYS_openat2, EIO, "Input/output error"}, Case{SYS_pread64, EIO, "Input/output error"}}) {
        const auto set = look_with_failing(one.number, one.error_number);
        EXPECT_EQ(names(set), "a b") << one.says;
        EXPECT_EQ(texts(set.unread), std::string("a.yaml: ") + one.says + "; its pods are kept as they were\nb.yaml: " +
                                         one.says + "; its pods are kept as they were");
        EXPECT_EQ(set.rejected.size(), 1U) << "the second pod of b.yaml, as before";
    }
    EXPECT_TRUE(look().unread.empty());
}

TEST_F(UnreadManifests, AFileThatCouldNotBeReadIsReadByTheNextLookThoughItLooksUnchanged) {
    directory.read_again("a.yaml");
    const auto before = look().pods.at(0);
    EXPECT_EQ(look_with_failing(SYS_openat2, ENFILE).pods.at(0), before);
    EXPECT_NE(look().pods.at(0), before);
}

TEST_F(UnreadManifests, ADirectoryThatCannotBeListedKeepsAllPods) {
    for (const auto& [number, error_number, says] :
         {std::tuple(SYS_openat, ENFILE, "Too many open files in system"),
          std::tuple(SYS_openat, ENODEV, "No such device"), std::tuple(SYS_getdents64, EIO, "Input/output error")}) {
        const auto set = look_with_failing(number, error_number);
        EXPECT_EQ(names(set), "a b") << says;
        EXPECT_EQ(texts(set.unread), std::string(says) + "; the pods known from it are kept as they were");
        EXPECT_EQ(set.rejected.size(), 1U);
    }
    EXPECT_EQ(names(look()), "a b");
}

TEST_F(UnreadManifests, TooManyFilesDropNoPodThatIsKnown) {
    for (std::size_t i = 0; i < most_manifests; ++i) dir.write(std::to_string(i) + ".yaml", "");
    const auto set = look();
    EXPECT_EQ(names(set), "a b");
    EXPECT_EQ(texts(set.unread),
              "has more than 16384 manifests; the pods known from it are kept as they were (is it the right "
              "directory?)");
}

TEST_F(UnreadManifests, WhatWasNeverReadIsUnknownAndReported) {
    dir.write("c.yaml", manifest("c"));
    const auto set = look_with_failing(SYS_openat2, EMFILE);
    EXPECT_EQ(names(set), "a b");
    EXPECT_NE(texts(set.unread).find("c.yaml: Too many open files; no pods are known from it until it can be read"),
              std::string::npos);
    EXPECT_EQ(names(look()), "a b c");
}

TEST_F(UnreadManifests, ARemovedFileIsGoneWhateverOpeningItReturns) {
    const auto before = look();
    std::filesystem::remove(dir / "a.yaml");
    EXPECT_EQ(names(look_with_failing(SYS_openat2, EMFILE)), "b");
    std::filesystem::remove_all(dir.path());
    const auto set = look();
    EXPECT_EQ(names(set), "");
    EXPECT_TRUE(set.unread.empty());
}

TEST_F(UnreadManifests, ProofThatThereIsNoManifestDropsItsPods) {
    std::filesystem::remove(dir / "a.yaml");
    std::filesystem::create_symlink("gone", dir / "a.yaml");
    EXPECT_EQ(names(look()), "b");
    dir.write("b.yaml", "kind: Pod\n");
    EXPECT_EQ(names(look()), "");
    EXPECT_TRUE(look().unread.empty());
}

}  // namespace
}  // namespace evictd::kube

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/runtime_paths.hpp"

#include <gtest/gtest.h>

namespace evictd::disk {
namespace {

RuntimeFilesystem below(const char* directory) {
    RuntimeFilesystem made;
    made.directory = directory;
    return made;
}

TEST(RuntimePaths, WhatTheRuntimeDoesNotSayStays) {
    const port::FilesystemPaths known{.nodefs = "/node", .imagefs = "/images", .containerfs = "/containers"};
    const auto paths = with_runtime(known, {});
    EXPECT_EQ(paths.nodefs, "/node");
    EXPECT_EQ(paths.imagefs, "/images");
    EXPECT_EQ(paths.containerfs, "/containers");
}

TEST(RuntimePaths, ARuntimeThatNamesImagesOnlyHasContainersThere) {
    const port::FilesystemPaths known{.nodefs = "/node", .imagefs = "/images", .containerfs = "/containers"};
    RuntimeFilesystems said;
    said.images = {below("/new")};
    const auto paths = with_runtime(known, said);
    EXPECT_EQ(paths.imagefs, "/new");
    EXPECT_EQ(paths.containerfs, "");
    said.containers = {below("/apart")};
    EXPECT_EQ(with_runtime(known, said).containerfs, "/apart");
}

}  // namespace
}  // namespace evictd::disk

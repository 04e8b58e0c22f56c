// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A library that is not installed, or is another version, is an error with a remedy, and never a null function.
#include "sys/shared_library.hpp"

#include <string>

#include <gtest/gtest.h>

#include "unit/sys/own_mappings.hpp"

namespace evictd::sys {
namespace {

TEST(SharedLibraries, OneThatIsMissingIsAnErrorWithARemedy) {
    const auto library = SharedLibrary::load("libno-such-library.so.9", "install it");
    ASSERT_FALSE(library);
    EXPECT_NE(library.error().text().find("libno-such-library.so.9"), std::string::npos) << library.error().text();
    EXPECT_NE(library.error().text().find("install it"), std::string::npos) << library.error().text();
}

TEST(SharedLibraries, AFunctionThatIsMissingIsAnError) {
    auto library = SharedLibrary::load("libc.so.6", "install another");
    ASSERT_TRUE(library) << library.error().text();
    int (*number)() = nullptr;
    library->find("getpid", number);
    ASSERT_NE(number, nullptr);
    EXPECT_TRUE(library->check());
    library->find("no_such_function", number);
    EXPECT_EQ(number, nullptr);
    library->find("getpid", number);
    ASSERT_FALSE(library->check());
    EXPECT_NE(library->check().error().text().find("has no no_such_function"), std::string::npos);
}

// KiB of the mappings of files whose name has `part` that are in memory.
long resident_of(const std::string& part) {
    long sum = 0;
    for (const auto& mapping : own_mappings()) {
        if (mapping.line.find(part) != std::string::npos) sum += mapping.rss;
    }
    return sum;
}

TEST(SharedLibraries, WhatTheyUsedOnceIsGivenBackAndTheyStillWork) {
    auto library = SharedLibrary::load("libcurl.so.4", "install libcurl4");
    ASSERT_TRUE(library) << library.error().text();
    int (*start)(long) = nullptr;
    const char* (*version)() = nullptr;
    library->find("curl_global_init", start);
    library->find("curl_version", version);
    ASSERT_TRUE(library->check());
    ASSERT_EQ(start(3), 0);
    const std::string before = version();
    const auto curl = resident_of("/libcurl.so"), crypto = resident_of("/libcrypto.so"), libc = resident_of("/libc.so");
    give_back_libraries();
    EXPECT_LT(resident_of("/libcurl.so"), curl / 2);
    EXPECT_LT(resident_of("/libcrypto.so"), crypto / 2) << "which libcurl brought along";
    EXPECT_GE(resident_of("/libc.so"), libc) << "the program's own library";
    EXPECT_EQ(version(), before);
}

}  // namespace
}  // namespace evictd::sys

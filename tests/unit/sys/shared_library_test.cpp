// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A library that is not installed, or is another version, is an error with a remedy, and never a null function.
#include "sys/shared_library.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace evictd::sys

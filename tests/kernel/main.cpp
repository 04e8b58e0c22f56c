// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The tests on the running kernel. Not for what can be tested without root: that is in tests/unit.
#include <cstdio>

#include <gtest/gtest.h>
#include <unistd.h>

#include "kernel/bpf_fixture.hpp"

int main(int count, char** arguments) {
    testing::InitGoogleTest(&count, arguments);
    if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
    constexpr int skipped = 77;  // what ctest and automake take for "not run"
    if (::geteuid() != 0) {
        std::puts("kernel_tests: skipped: needs root (run: sudo make test)");
        return skipped;
    }
    evictd::kernel_test::remove_leftovers();
    testing::AddGlobalTestEnvironment(new evictd::kernel_test::LoadedOnce);  // GoogleTest deletes it
    return RUN_ALL_TESTS();
}

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The container runtime's client on a real containerd, which run.sh starts. Not for what a runtime does wrong: no real
// one can be made to do it, and tests/unit/cri does.
#include <cstdio>

#include <gtest/gtest.h>

#include "runtime_fixture.hpp"

int main(int count, char** arguments) {
    testing::InitGoogleTest(&count, arguments);
    if (!GTEST_FLAG_GET(list_tests) && evictd::cri_test::from_environment("CRI_SOCKET").empty()) {
        std::puts("cri_tests: needs a runtime (run tests/cri/run.sh)");
        return 2;
    }
    return RUN_ALL_TESTS();
}

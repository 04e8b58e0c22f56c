// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/hierarchies.hpp"

#include <gtest/gtest.h>

#include "fakes/few_descriptors.hpp"

namespace evictd::kernel {
namespace {

// libcgroup does not keep the error of each file that it opens, but that of an earlier call: hence from many to none.
TEST(HierarchyList, WithoutDescriptorsTheErrorSaysSo) {
    for (int left = 5; left >= 0; left--) {
        const auto found = [&] {
            const fakes::FewDescriptors few(left);
            return find_hierarchies();
        }();
        if (found) continue;
        EXPECT_NE(found.error().text().find("Too many open files"), std::string::npos)
            << left << " left: " << found.error().text();
        EXPECT_EQ(found.error().kind, ErrorKind::exhausted);
    }
}

}  // namespace
}  // namespace evictd::kernel

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/hierarchies.hpp"

#include <gtest/gtest.h>

#include "fakes/few_descriptors.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define EVICTD_FORGIVES_LEAKS const __lsan::ScopedDisabler forgiven
#endif
#endif
#ifndef EVICTD_FORGIVES_LEAKS
#define EVICTD_FORGIVES_LEAKS
#endif

namespace evictd::kernel {
namespace {

// libcgroup does not keep the error of each file that it opens, but that of an earlier call: hence from many to none.
TEST(HierarchyList, WithoutDescriptorsTheErrorNamesThem) {
    for (int left = 5; left >= 0; left--) {
        const auto found = [&] {
            const fakes::FewDescriptors few(left);
            EVICTD_FORGIVES_LEAKS;  // libcgroup loses 40 bytes where its cgroup_init() fails
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

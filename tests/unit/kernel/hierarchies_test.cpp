// SPDX-License-Identifier: Apache-2.0
#include "kernel/hierarchies.hpp"

#include <cerrno>

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "fakes/failing_syscalls.hpp"

namespace evictd::kernel {
namespace {

TEST(HierarchyList, WithoutDescriptorsTheErrorSaysSo) {
    std::string text;
    ErrorKind kind = ErrorKind::failed;
    const bool ran = fakes::with_failing(SYS_openat, EMFILE, [&] {
        const auto found = find_hierarchies();
        text = found ? "found" : found.error().text();
        kind = found ? ErrorKind::failed : found.error().kind;
    });
    if (!ran) GTEST_SKIP() << "no seccomp filters here";
    EXPECT_NE(text.find("Too many open files"), std::string::npos) << text;
    EXPECT_EQ(kind, ErrorKind::exhausted);
}

}  // namespace
}  // namespace evictd::kernel

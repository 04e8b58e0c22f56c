// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A program that has hardly any file descriptor left.
#pragma once

#include <cstddef>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "sys/fd.hpp"

namespace evictd::fakes {

// Descriptors up to the limit are taken, all but `left`; it is put back with the object.
class FewDescriptors {
public:
    explicit FewDescriptors(int left) {
        EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
        rlimit few = before_;
        few.rlim_cur = 128;
        EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
        for (int fd = open("/dev/null", O_RDONLY); fd >= 0; fd = open("/dev/null", O_RDONLY)) taken_.emplace_back(fd);
        taken_.resize(taken_.size() - static_cast<std::size_t>(left));
    }
    FewDescriptors(const FewDescriptors&) = delete;
    FewDescriptors& operator=(const FewDescriptors&) = delete;
    ~FewDescriptors() { (void)setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
    std::vector<sys::Fd> taken_;
};

}  // namespace evictd::fakes

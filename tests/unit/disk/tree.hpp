// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Directory trees for the tests of walks, made below open directories so that no path is too long, and du's word on
// them.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evictd/model/units.hpp"
#include "sys/fd.hpp"

namespace evictd::disk {

inline sys::Fd open_tree(const std::string& path) {
    return sys::Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

inline sys::Fd make_directory(const sys::Fd& parent, const std::string& name) {
    EXPECT_EQ(::mkdirat(parent.get(), name.c_str(), 0755), 0) << name;
    return sys::Fd(::openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// `size` bytes that are really written; those before `offset` are a hole.
inline void make_file(const sys::Fd& parent, const std::string& name, std::size_t size, off_t offset = 0) {
    const sys::Fd file(::openat(parent.get(), name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    ASSERT_TRUE(file) << name;
    const std::string text(size, 'x');
    ASSERT_EQ(::pwrite(file.get(), text.data(), text.size(), offset), static_cast<ssize_t>(size));
}

struct DuFigures {
    std::int64_t bytes = -1;
    std::int64_t inodes = -1;
};

inline std::int64_t number_of(const std::string& command) {
    struct Close {
        void operator()(FILE* file) const { (void)::pclose(file); }
    };
    const std::unique_ptr<FILE, Close> output(::popen(command.c_str(), "re"));
    std::array<char, 64> line{};
    if (!output || std::fgets(line.data(), line.size(), output.get()) == nullptr) return -1;
    return std::strtoll(line.data(), nullptr, 10);
}

inline DuFigures du(const std::string& path) {
    // What is not allocated yet may be counted differently from one second to the next.
    if (const auto tree = open_tree(path); tree) ::syncfs(tree.get());
    return {number_of("du -s --block-size=1 '" + path + "'"), number_of("du -s --inodes '" + path + "'")};
}

// In memory: thousands of directories wait for a disk that is busy. Removed with rm, which has no limit of depth
// either.
class DeepDir {
public:
    DeepDir() { EXPECT_NE(::mkdtemp(path_.data()), nullptr); }
    DeepDir(const DeepDir&) = delete;
    DeepDir& operator=(const DeepDir&) = delete;
    ~DeepDir() { (void)number_of("rm -rf '" + path_ + "'; echo 0"); }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_ = "/dev/shm/evictd-test-XXXXXX";
};

}  // namespace evictd::disk

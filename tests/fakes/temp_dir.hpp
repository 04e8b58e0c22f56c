// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A directory of a test's own, removed with all that is in it.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <stdlib.h>

namespace evictd::fakes {

class TempDir {
public:
    TempDir() {
        std::string name = (std::filesystem::temp_directory_path() / "evictd-test-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;
    ~TempDir() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::string operator/(std::string_view name) const { return (path_ / name).string(); }
    // In place, as an editor without a temporary file would.
    void write(std::string_view name, std::string_view text) const {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name, std::ios::binary) << text;
    }

private:
    std::filesystem::path path_;
};

}  // namespace evictd::fakes

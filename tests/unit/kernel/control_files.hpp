// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A declared cgroup tree: real directories with control files of our own making, for code that only reads files. It
// counts nothing and enforces nothing; what the kernel really does is in tests/kernel.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>

#include <sys/stat.h>

#include "evictd/model/ids.hpp"
#include "fakes/temp_dir.hpp"
#include "kernel/hierarchies.hpp"

namespace evictd::kernel {

struct DeclaredCgroup {
    std::string path;                          // "/kubepods/burstable"
    std::map<std::string, std::string> files;  // by name: "memory.current"
};

class ControlFiles {
public:
    ControlFiles(std::initializer_list<DeclaredCgroup> tree) {
        for (const auto& cgroup : tree) {
            std::filesystem::create_directories(directory_.path().string() + cgroup.path);
            for (const auto& [name, text] : cgroup.files) {
                directory_.write(cgroup.path.substr(1) + "/" + name, text);
            }
        }
    }

    [[nodiscard]] Hierarchies v1() const { return {.memory = directory_.path().string()}; }
    [[nodiscard]] Hierarchies v2() const { return {.v2 = true, .memory = directory_.path().string()}; }
    [[nodiscard]] CgroupId id(const std::string& path) const {
        struct stat status {};
        return ::stat((directory_.path().string() + path).c_str(), &status) == 0 ? CgroupId{status.st_ino} : CgroupId{};
    }
    void write(const std::string& path, const std::string& name, const std::string& text) const {
        std::filesystem::create_directories(directory_.path().string() + path);
        directory_.write(path.substr(1) + "/" + name, text);
    }
    void remove(const std::string& path) const { std::filesystem::remove_all(directory_.path().string() + path); }

private:
    fakes::TempDir directory_;
};

}  // namespace evictd::kernel

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The NUMA nodes' own files. Where a kernel defers the initialization of memory, /proc/meminfo counts what is not
// initialized yet as free, and these do not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace evictd::kernel_test {

// MemFree + Inactive(file), in bytes.
inline std::int64_t available_on_nodes() {
    std::int64_t kib = 0;
    for (const auto& node : std::filesystem::directory_iterator("/sys/devices/system/node")) {
        std::ifstream lines(node.path() / "meminfo");
        std::string word, number, name;  // "Node 0 MemFree: 123 kB"
        std::int64_t value = 0;
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            if (words >> word >> number >> name >> value && (name == "MemFree:" || name == "Inactive(file):"))
                kib += value;
        }
    }
    return kib * 1024;
}

}  // namespace evictd::kernel_test

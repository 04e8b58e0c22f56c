// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// This program's mappings as /proc/self/smaps has them.
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace evictd::sys {

struct OwnMapping {
    std::uintptr_t begin = 0, end = 0;
    std::string line;        // with the file's name
    long size = 0, rss = 0;  // KiB
};

inline std::vector<OwnMapping> own_mappings() {
    std::ifstream smaps("/proc/self/smaps");
    std::vector<OwnMapping> found;
    for (std::string line; std::getline(smaps, line);) {
        std::istringstream words(line);
        std::string first;
        long value = 0;
        words >> first;
        if (const auto dash = first.find('-'); dash != std::string::npos && first.find(':') == std::string::npos) {
            found.push_back({.begin = std::stoul(first.substr(0, dash), nullptr, 16),
                             .end = std::stoul(first.substr(dash + 1), nullptr, 16),
                             .line = line});
        } else if (words >> value) {
            if (first == "Size:") found.back().size = value;
            if (first == "Rss:") found.back().rss = value;
        }
    }
    return found;
}

}  // namespace evictd::sys

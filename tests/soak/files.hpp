// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Files and processes, as the soak needs them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace evictd::soak {

void sleep_ms(long ms);
double seconds_of_day();                                                       // UTC, as the time of events
std::string read_file(const std::filesystem::path& path);                      // empty if it cannot be read
bool write_file(const std::filesystem::path& path, const std::string& text);   // one that is there
std::vector<std::filesystem::path> subtree(const std::filesystem::path& top);  // deepest last
std::size_t number_in(const std::string& text, const std::string& key);        // of lines "KEY NUMBER"; 0 without
void drop_cache(const std::filesystem::path& path);                            // posix_fadvise(2), POSIX_FADV_DONTNEED
bool ended(pid_t pid, int within_ms, int& status);                             // a child of ours; reaped

}  // namespace evictd::soak

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "files.hpp"

#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace evictd::soak {
namespace fs = std::filesystem;

void sleep_ms(long ms) {
    const timespec time{ms / 1000, ms % 1000 * 1'000'000};
    (void)::nanosleep(&time, nullptr);
}

double seconds_of_day() {
    constexpr time_t day = 86'400;
    timespec now{};
    (void)::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<double>(now.tv_sec % day) + static_cast<double>(now.tv_nsec) / 1e9;
}

std::string read_file(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

bool write_file(const fs::path& path, const std::string& text) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    (void)::close(file);
    return written;
}

std::vector<fs::path> subtree(const fs::path& top) {  // deepest last
    std::vector<fs::path> all;
    std::error_code error;
    if (!fs::is_directory(top, error)) return all;
    all.push_back(top);
    for (fs::recursive_directory_iterator at(top, error), end; !error && at != end; at.increment(error)) {
        if (at->is_directory(error)) all.push_back(at->path());
    }
    return all;
}

std::size_t number_in(const std::string& text, const std::string& key) {
    std::istringstream lines(text);
    std::string word;
    for (std::size_t value = 0; lines >> word >> value;) {
        if (word == key) return value;
    }
    return 0;
}

void drop_cache(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    (void)::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    (void)::close(file);
}

bool ended(pid_t pid, int within_ms, int& status) {
    for (int waited = 0; waited <= within_ms; waited += 2) {
        if (::waitpid(pid, &status, WNOHANG) != 0) return true;
        sleep_ms(2);
    }
    return false;
}

}  // namespace evictd::soak

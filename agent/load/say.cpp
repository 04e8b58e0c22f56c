// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "say.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <unistd.h>

namespace evictd::load {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

std::string program_name = "load";  // NOLINT(*-avoid-non-const-global-variables): set once, before any work

}  // namespace

void say(std::string_view word) {
    std::array<char, 96> line{};
    const int size = std::snprintf(line.data(), line.size(), "%.*s %d %lld\n", static_cast<int>(word.size()),
                                   word.data(), static_cast<int>(::getpid()), static_cast<long long>(now_ns()));
    (void)!::write(STDOUT_FILENO, line.data(), static_cast<std::size_t>(size));
}

void set_name(std::string_view program) { program_name = program; }

void die(const std::string& what) {
    (void)std::fprintf(stderr, "%s: %s\n", program_name.c_str(), what.c_str());
    std::exit(2);  // NOLINT(concurrency-mt-unsafe): other threads only read files
}

void die_errno(const std::string& what) {
    die(what + ": " + std::strerror(errno));  // NOLINT(concurrency-mt-unsafe): other threads only read files
}

std::int64_t now_ns() {
    timespec time{};
    (void)::clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * second_ns + time.tv_nsec;
}

void sleep_ns(std::int64_t duration) {
    const timespec time{duration / second_ns, duration % second_ns};
    (void)::nanosleep(&time, nullptr);
}

}  // namespace evictd::load

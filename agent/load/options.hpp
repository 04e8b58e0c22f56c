// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The command line of a load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace evictd::load {

inline constexpr std::size_t mib = std::size_t{1} << 20U;
// More than any test machine has: without --up-to, growth ends when the process is killed.
inline constexpr std::size_t endless_mib = std::size_t{64} << 10U;

enum class Kind : std::uint8_t { hold, grow, bomb, cache, reread, connect, sockets };

struct Options {
    Kind kind = Kind::hold;
    std::size_t rate = 0;  // MiB/s; 0: as fast as possible
    std::size_t processes = 1;
    std::size_t hold = 0;  // MiB
    std::size_t up_to = endless_mib;
    std::string directory;      // of the files of cache and reread
    std::size_t files_mib = 0;  // their size together
    std::vector<std::string> groups;
    std::string after;
    long term_ms = -1;
    bool shared = false;
    bool first_served = false;
    bool steady = false;
    bool together = false;
    std::string write;
};

// The options, or what is wrong with them.
[[nodiscard]] tl::expected<Options, std::string> parse(const std::vector<std::string>& words);

// The text of --help; each line of it begins with two blanks or with `program`.
[[nodiscard]] std::string usage(const std::string& program);

}  // namespace evictd::load

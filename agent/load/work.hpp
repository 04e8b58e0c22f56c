// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a load does once it has begun, apart from taking memory. None of it returns: the process is killed.
#pragma once

#include <cstddef>
#include <string>

#include "hoard.hpp"

namespace evictd::load {

// Writes files of 16 MiB in `directory` until they are `size` bytes, reads each once, and starts again.
[[noreturn]] void fill_page_cache(const std::string& directory, std::size_t size);
// Makes a file of `size` bytes in `directory` and reads it in 4 threads forever.
[[noreturn]] void reread(const std::string& directory, std::size_t size);
[[noreturn]] void append_forever(const std::string& path);

// A server: each connection takes a MiB, up to `most` bytes in all. Refused a socket, it gives everything back after a
// while; it stops when it gets one again.
[[noreturn]] void connect_and_grow(Hoard& hoard, std::size_t sockets_per_second, std::size_t most);
[[noreturn]] void open_and_close_sockets();

[[noreturn]] void rest();

}  // namespace evictd::load

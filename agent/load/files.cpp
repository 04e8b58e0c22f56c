// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include <array>
#include <cstdint>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "options.hpp"
#include "say.hpp"
#include "work.hpp"

namespace evictd::load {
namespace {

constexpr std::size_t file_size = 16 * mib;
constexpr std::int64_t append_pause_ns = 10'000'000;

[[noreturn]] void give_up(const std::string& path) {
    say(said_failed);
    die_errno(path);
}

// Never through a link: the directory may be one that others write to.
int create(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) {
        give_up(path);
    }
    return file;
}

// One file of page cache. Written, synced to the disk, dropped, and read once: a page that is touched twice counts as
// active, which the kubelet counts as used, and this is about unused cache.
void write_and_read(const std::string& path, std::vector<char>& buffer) {
    const int file = create(path);
    for (std::size_t done = 0; done < file_size;) {
        const ssize_t wrote = ::write(file, buffer.data(), buffer.size());
        if (wrote <= 0) {
            give_up(path);
        }
        done += static_cast<std::size_t>(wrote);
    }
    if (::fdatasync(file) != 0) {
        give_up(path);
    }
    (void)::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    (void)::lseek(file, 0, SEEK_SET);
    while (::read(file, buffer.data(), buffer.size()) > 0) {}
    (void)::close(file);
}

// From `begin` to `end`, and from `begin` again.
[[noreturn]] void read_forever(const std::string& path, std::size_t begin, std::size_t end) {
    const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) {
        give_up(path);
    }
    std::vector<char> buffer(mib / 4);
    for (;;) {
        for (std::size_t at = begin; at < end; at += buffer.size()) {
            (void)!::pread(file, buffer.data(), buffer.size(), static_cast<off_t>(at));
        }
    }
}

}  // namespace

void fill_page_cache(const std::string& directory, std::size_t size) {
    std::vector<char> buffer(mib, 'c');
    const std::size_t files = size / file_size + 1;
    for (std::size_t i = 0;; i++) {
        const std::string path = directory + "/file-" + std::to_string(i % files);
        (void)::unlink(path.c_str());
        write_and_read(path, buffer);
        if (i + 1 == files) {
            say(said_filled);
        }
    }
}

// A file without blocks on the disk: reading it fills the page cache as any other does, and never waits for the disk,
// so that all lost time is lost to memory. Each thread reads a part of its own: a page that a second one read before it
// is reclaimed would count as active, which the kubelet counts as used.
void reread(const std::string& directory, std::size_t size) {
    constexpr std::size_t readers = 4;
    const std::string path = directory + "/data";
    const int file = create(path);
    if (size < readers || ::ftruncate(file, static_cast<off_t>(size)) != 0) {
        give_up(path);
    }
    const std::size_t part = size / readers;
    for (std::size_t i = 1; i < readers; i++) {
        std::thread([path, part, i] { read_forever(path, part * i, part * (i + 1)); }).detach();
    }
    read_forever(path, 0, part);
}

void append_forever(const std::string& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) {
        die_errno(path);
    }
    const std::array<char, 4096> text{};
    for (;;) {
        if (::write(file, text.data(), text.size()) < 0) {
            die_errno(path);
        }
        sleep_ns(append_pause_ns);
    }
}

}  // namespace evictd::load

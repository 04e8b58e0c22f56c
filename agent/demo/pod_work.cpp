// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/pod_work.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/clock.hpp"
#include "sys/fd.hpp"
#include "sys/file.hpp"

namespace evictd::demo {
namespace {

// A slow leak takes its next bite so often: finer than a threshold's distance, coarser than a scheduler's tick.
constexpr int bite_ms = 10;
// Between two looks whether to end.
constexpr int idle_ms = 50;

void grow(Hoard& hoard, std::int64_t mib_per_second, std::size_t most) {
    if (mib_per_second == 0) {
        hoard.grow_to(most);
        return;
    }
    const std::size_t bite = static_cast<std::size_t>(mib_per_second) * mib * bite_ms / 1000;
    // By the clock, so that a slow machine leaks as fast; it may catch up by some bites, never by a leap.
    constexpr std::size_t catch_up = 5;
    const sys::SystemClock clock;
    const auto began = clock.monotonic();
    const std::size_t from = hoard.taken();
    while (hoard.taken() < most && !ended_within(bite_ms)) {
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(clock.monotonic() - began).count();
        const std::size_t due =
            from + static_cast<std::size_t>(mib_per_second) * static_cast<std::size_t>(ms) * mib / 1000;
        hoard.grow_to(std::min({due, hoard.taken() + catch_up * bite, most}));
    }
}

// One file of page cache. Written, brought to the disk, dropped, and read once: a page that is touched twice counts as
// active, which the kubelet counts as used, and this is about cache that nobody needs.
bool write_and_read(const std::string& path, std::size_t size, std::vector<char>& buffer) {
    const auto file = sys::open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (!file) {
        return false;
    }
    for (std::size_t done = 0; done < size; done += buffer.size()) {
        if (!sys::write_text(file->get(), {buffer.data(), buffer.size()})) {
            return false;
        }
    }
    if (::fdatasync(file->get()) != 0) {
        return false;
    }
    (void)::posix_fadvise(file->get(), 0, 0, POSIX_FADV_DONTNEED);
    (void)::lseek(file->get(), 0, SEEK_SET);
    while (::read(file->get(), buffer.data(), buffer.size()) > 0) {}
    return true;
}

void fill_page_cache(const PodProcessOptions& options) {
    constexpr std::size_t file_mib = 16;
    std::vector<char> buffer(mib, 'c');
    const auto files = static_cast<std::size_t>(options.files_mib) / file_mib + 1;
    for (std::size_t i = 0; !ended_within(0); i++) {
        const std::string path = options.files + "/file-" + std::to_string(i % files);
        (void)::unlink(path.c_str());
        if (!write_and_read(path, file_mib * mib, buffer)) {
            say(said_no_files);
            return;
        }
        if (i + 1 == files) {
            say(said_filled);
        }
    }
}

sys::Fd new_socket() { return sys::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

// A server: every connection takes a mebibyte. Refused one, its clients wait; after a while those it has are served,
// and it gives everything back. As soon as it gets one again, it has seen enough.
void connect_and_grow(Hoard& hoard, std::int64_t mib_per_second, std::size_t most) {
    constexpr Duration serves_for = std::chrono::milliseconds(1500);
    const int pause_ms = static_cast<int>(1000 / std::max<std::int64_t>(1, mib_per_second));
    const sys::SystemClock clock;
    const std::size_t before = hoard.taken();
    std::vector<sys::Fd> connections;
    std::optional<MonotonicTime> refused_at;
    while (!ended_within(pause_ms)) {
        auto socket = new_socket();
        if (!socket && errno == EPERM && !refused_at) {
            refused_at = clock.monotonic();
            say(said_refused);
        } else if (socket && refused_at) {
            say(said_opened);
            return;
        } else if (socket && hoard.taken() < most) {
            connections.push_back(std::move(socket));
            hoard.grow_to(std::min(hoard.taken() + mib, most));
        }
        if (refused_at && clock.monotonic() - *refused_at > serves_for) {
            connections.clear();
            hoard.shrink_to(before);
        }
    }
}

void open_and_close_sockets() {
    constexpr int pause_ms = 10;
    constexpr int told_every = 10;
    for (int opened = 0; !ended_within(pause_ms);) {
        if (!new_socket()) {
            say(said_refused);
        } else if (++opened % told_every == 0) {
            say(said_opened);
        }
    }
}

// A server with several workers, all over its data: whoever works needs a page that another has just pushed out.
constexpr int readers = 4;

void read_for_ever(const std::string& path, std::int64_t from, std::int64_t size, const std::atomic<bool>& over) {
    const auto file = sys::open(path, O_RDONLY | O_NOFOLLOW);
    std::vector<char> buffer(mib / 4);
    for (std::int64_t at = from; file && !over; at = (at + static_cast<std::int64_t>(buffer.size())) % size) {
        (void)!::pread(file->get(), buffer.data(), buffer.size(), at);
    }
}

// A file without blocks on the disk: reading it fills the page cache as any other does, and never waits for the disk,
// so that what is lost is lost to memory alone.
void reread(const PodProcessOptions& options) {
    const std::string path = options.reread + "/data";
    const auto size = options.files_mib * static_cast<std::int64_t>(mib);
    const auto file = sys::open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (!file || size <= 0 || ::ftruncate(file->get(), size) != 0) {
        say(said_no_files);
        return;
    }
    std::atomic<bool> over = false;
    std::vector<std::thread> threads;
    threads.reserve(readers);
    for (int i = 0; i < readers; i++) {
        threads.emplace_back([&, from = size / readers * i] { read_for_ever(path, from, size, over); });
    }
    while (!ended_within(idle_ms)) {}
    over = true;
    for (auto& thread : threads) {
        thread.join();
    }
}

}  // namespace

void work(const PodProcessOptions& options, Hoard& hoard, std::size_t most) {
    if (options.connects) {
        connect_and_grow(hoard, options.mib_per_second, most);
    } else if (options.opens_sockets) {
        open_and_close_sockets();
    } else if (options.grows) {
        grow(hoard, options.mib_per_second, most);
    } else if (!options.files.empty()) {
        fill_page_cache(options);
    } else if (!options.reread.empty()) {
        reread(options);
    }
}

}  // namespace evictd::demo

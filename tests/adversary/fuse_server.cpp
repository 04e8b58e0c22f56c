// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kernel's protocol on /dev/fuse without libfuse, which is seldom there as a static library.
#include "fuse_server.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

constexpr std::uint64_t file_size = std::uint64_t{16} << 20U;
constexpr std::uint64_t root = FUSE_ROOT_ID;
constexpr std::uint64_t file = 2;
constexpr std::uint64_t hour = 3600;

fuse_attr attributes_of(std::uint64_t node) {
    fuse_attr attr{};
    attr.ino = node;
    attr.mode = node == root ? S_IFDIR | 0777U : S_IFREG | 0666U;
    attr.nlink = 1;
    attr.size = node == root ? 0 : file_size;
    attr.blksize = 4096;
    return attr;
}

class Server {
public:
    Server(int device, std::string go) : device_(device), go_(std::move(go)) {}
    void serve();

private:
    void answer(const fuse_in_header& asked, const void* body);
    void send(std::uint64_t unique, int error, const void* data, std::size_t size) const;
    template <typename T>
    void send(std::uint64_t unique, const T& body) const {
        send(unique, 0, &body, sizeof body);
    }
    void await_go() const;

    int device_;
    std::string go_;
    std::vector<char> zeros_ = std::vector<char>(std::size_t{1} << 20U);
};

void Server::send(std::uint64_t unique, int error, const void* data, std::size_t size) const {
    fuse_out_header head{static_cast<std::uint32_t>(sizeof head + size), error, unique};
    const std::array<iovec, 2> parts{{{&head, sizeof head}, {const_cast<void*>(data), size}}};
    [[maybe_unused]] const ssize_t sent = ::writev(device_, parts.data(), size > 0 ? 2 : 1);  // the asker may be gone
}

void Server::await_go() const {
    const timespec pause{0, 100'000'000};
    while (::access(go_.c_str(), F_OK) != 0) (void)::nanosleep(&pause, nullptr);
}

void Server::answer(const fuse_in_header& asked, const void* body) {
    switch (asked.opcode) {
        case FUSE_INIT: {
            fuse_init_out out{};
            out.major = 7;
            out.minor = 31;
            out.max_write = 4096;
            out.max_readahead = 1U << 18U;
            out.max_background = 16;
            out.congestion_threshold = 12;
            return send(asked.unique, out);
        }
        case FUSE_LOOKUP: {
            fuse_entry_out out{};
            out.nodeid = file;
            out.attr_valid = out.entry_valid = hour;
            out.attr = attributes_of(file);
            return send(asked.unique, out);
        }
        case FUSE_GETATTR:
        case FUSE_SETATTR: {
            fuse_attr_out out{};
            out.attr_valid = hour;
            out.attr = attributes_of(asked.nodeid);
            return send(asked.unique, out);
        }
        case FUSE_OPEN: {
            fuse_open_out out{};
            out.open_flags = FOPEN_KEEP_CACHE;
            return send(asked.unique, out);
        }
        case FUSE_READ: {
            const std::size_t size = static_cast<const fuse_read_in*>(body)->size;
            return send(asked.unique, 0, zeros_.data(), std::min(size, zeros_.size()));
        }
        case FUSE_WRITE: {
            await_go();
            const fuse_write_out out{static_cast<const fuse_write_in*>(body)->size, 0};
            return send(asked.unique, out);
        }
        case FUSE_FORGET:
        case FUSE_BATCH_FORGET:
            return;
        case FUSE_FLUSH:
        case FUSE_RELEASE:
        case FUSE_FSYNC:
            return send(asked.unique, 0, nullptr, 0);
        default:
            return send(asked.unique, -ENOSYS, nullptr, 0);
    }
}

void Server::serve() {
    std::vector<std::uint64_t> request((std::size_t{1} << 20U) / sizeof(std::uint64_t));
    for (;;) {
        const ssize_t got = ::read(device_, request.data(), request.size() * sizeof(std::uint64_t));
        if (got < 0 && errno == ENODEV) return;  // unmounted
        if (got < static_cast<ssize_t>(sizeof(fuse_in_header))) continue;
        const auto* asked = reinterpret_cast<const fuse_in_header*>(request.data());
        answer(*asked, asked + 1);
    }
}

}  // namespace

bool serve_unanswered_writes(const std::string& directory, const std::string& go, const std::function<void()>& ready) {
    const int device = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device < 0) return false;
    const std::string options = "fd=" + std::to_string(device) + ",rootmode=40000,user_id=0,group_id=0,allow_other";
    if (::mount("attacker", directory.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0) return false;
    ready();
    Server(device, go).serve();
    return true;
}

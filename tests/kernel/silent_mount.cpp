// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kernel's protocol on /dev/fuse without libfuse, as far as statfs(2) and stat(2) of the root need it.
#include "kernel/silent_mount.hpp"

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace evictd::kernel_test {
namespace {

void send(int device, std::uint64_t unique, int error, const void* body, std::size_t size) {
    fuse_out_header head{static_cast<std::uint32_t>(sizeof head + size), error, unique};
    const std::array<iovec, 2> parts{{{&head, sizeof head}, {const_cast<void*>(body), size}}};
    [[maybe_unused]] const ssize_t sent = ::writev(device, parts.data(), size > 0 ? 2 : 1);  // the asker may be gone
}

void answer_to(int device, const fuse_in_header& asked) {
    if (asked.opcode == FUSE_STATFS) {
        fuse_statfs_out out{};
        out.st = {.blocks = 1000,
                  .bfree = 100,
                  .bavail = 100,
                  .files = 50,
                  .ffree = 5,
                  .bsize = 4096,
                  .namelen = 255,
                  .frsize = 4096};
        return send(device, asked.unique, 0, &out, sizeof out);
    }
    if (asked.opcode == FUSE_GETATTR) {
        fuse_attr_out out{};
        out.attr.ino = FUSE_ROOT_ID;
        out.attr.mode = S_IFDIR | 0755;
        out.attr.nlink = 2;
        return send(device, asked.unique, 0, &out, sizeof out);
    }
    send(device, asked.unique, -ENOSYS, nullptr, 0);
}

}  // namespace

SilentMount::SilentMount(std::string directory)
    : directory_(std::move(directory)), device_(::open("/dev/fuse", O_RDWR | O_CLOEXEC)) {
    if (!device_) return;
    const std::string options = "fd=" + std::to_string(device_.get()) + ",rootmode=40000,user_id=0,group_id=0";
    works_ = ::mount("evictd-test", directory_.c_str(), "fuse", MS_NODEV | MS_NOSUID, options.c_str()) == 0;
    if (works_) server_ = std::thread([this] { serve(); });
}

SilentMount::~SilentMount() {
    if (!works_) return;
    (void)::umount2(directory_.c_str(), MNT_DETACH | MNT_FORCE);  // aborts the connection: all who wait get an error
    server_.join();
}

void SilentMount::serve() const {
    std::vector<char> buffer(std::size_t{1} << 17U);
    std::vector<fuse_in_header> unanswered;
    while (true) {
        pollfd wanted{device_.get(), POLLIN, 0};
        (void)::poll(&wanted, 1, 20);
        if (answers_) {
            for (const auto& asked : std::exchange(unanswered, {})) answer_to(device_.get(), asked);
            waiting_ = 0;
        }
        if ((wanted.revents & (POLLERR | POLLHUP)) != 0) return;  // unmounted
        if ((wanted.revents & POLLIN) == 0) continue;
        const ssize_t size = ::read(device_.get(), buffer.data(), buffer.size());
        if (size < 0 && errno == ENODEV) return;
        if (size < static_cast<ssize_t>(sizeof(fuse_in_header))) continue;
        const auto& asked = *reinterpret_cast<const fuse_in_header*>(buffer.data());
        if (asked.opcode == FUSE_INIT) {
            fuse_init_out out{};
            out.major = 7;
            out.minor = 31;
            out.max_write = 4096;
            send(device_.get(), asked.unique, 0, &out, sizeof out);
        } else if (asked.opcode != FUSE_INTERRUPT && asked.opcode != FUSE_FORGET) {
            unanswered.push_back(asked);
            ++waiting_;
        }
    }
}

}  // namespace evictd::kernel_test

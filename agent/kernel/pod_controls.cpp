// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/pod_controls.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/file.hpp"

namespace evictd::kernel {
namespace {

// /proc/swaps: a heading, and a line for each.
bool has_swap() {
    const auto swaps = sys::read_file("/proc/swaps", std::size_t{64} << 10U);
    return !swaps || std::count(swaps->begin(), swaps->end(), '\n') > 1;
}

int write_errno(int fd, const std::string& text) { return ::write(fd, text.data(), text.size()) < 0 ? errno : 0; }

Result<std::string> read_word(const Result<sys::Fd>& file) {
    std::string text;
    if (!file) {
        return tl::unexpected(file.error());
    }
    if (auto read = sys::read_text(file->get(), text); !read) {
        return tl::unexpected(read.error());
    }
    return text.substr(0, text.find('\n'));
}

Result<Bytes> bytes_in(const Result<std::string>& word, const char* file) {
    if (!word) {
        return tl::unexpected(word.error());
    }
    if (*word == "max") {
        return port::no_limit;
    }
    std::int64_t value = 0;
    const auto parsed = std::from_chars(word->data(), word->data() + word->size(), value);
    return parsed.ec == std::errc() ? Result<Bytes>(Bytes{value})
                                    : fail(ErrorKind::invalid, file, "no number: " + *word);
}

}  // namespace

// A file that is missing in a cgroup that is there is one that this kernel does not have.
Result<sys::Fd> PodControls::open(const port::CgroupPlace& pod, const char* file, int flags) const {
    const auto directory = sys::open(hierarchies_.memory + pod.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!directory) {
        return tl::unexpected(directory.error());
    }
    struct stat status {};
    if (fstat(directory->get(), &status) != 0 || CgroupId{status.st_ino} != pod.id) {
        return fail(ErrorKind::vanished, pod.path, "it is another cgroup now");
    }
    auto opened = sys::openat(directory->get(), file, flags);
    const bool alive = opened || faccessat(directory->get(), "cgroup.procs", F_OK, 0) == 0;
    if (!opened && opened.error().kind == ErrorKind::vanished && alive) {
        return fail(ErrorKind::failed, file, "this kernel's memory cgroups have no such file",
                    "evictd doctor tells more");
    }
    return opened;
}

Result<sys::Fd> PodControls::open_freezer(const port::CgroupPlace& pod, int flags) const {
    if (hierarchies_.v2) {
        return open(pod, "cgroup.freeze", flags);
    }
    if (hierarchies_.freezer.empty()) {
        return fail(ErrorKind::failed, "freezer", "no such controller is mounted");
    }
    const auto alive = open(pod, "cgroup.procs", O_RDONLY);
    return alive ? sys::open(hierarchies_.freezer + pod.path + "/freezer.state", flags) : tl::unexpected(alive.error());
}

Result<Bytes> PodControls::usage(const port::CgroupPlace& pod) const {
    const char* file = hierarchies_.v2 ? "memory.current" : "memory.usage_in_bytes";
    return bytes_in(read_word(open(pod, file, O_RDONLY)), file);
}

// Kernels that know `swappiness=` (6.11) leave anonymous memory alone with 0. Older ones answer EINVAL; there only a
// machine without swap is asked, as nobody has allowed us to swap a pod out.
Status PodControls::reclaim(const port::CgroupPlace& pod, Bytes bytes) const {
    const auto file = open(pod, "memory.reclaim", O_WRONLY);
    if (!file) {
        return tl::unexpected(file.error());
    }
    const std::string text = std::to_string(bytes.value);
    int error = takes_swappiness_ ? write_errno(file->get(), text + " swappiness=0") : EINVAL;
    if (error == EINVAL) {
        takes_swappiness_ = false;
        if (has_swap()) {
            return fail(ErrorKind::failed, "memory.reclaim", "this kernel would swap as well",
                        "use Linux 6.11 or newer");
        }
        error = write_errno(file->get(), text);
    }
    return error == 0 || error == EAGAIN ? Status{} : sys::fail_errno("memory.reclaim", error);
}

Result<Bytes> PodControls::limit(const port::CgroupPlace& pod) const {
    return bytes_in(read_word(open(pod, "memory.high", O_RDONLY)), "memory.high");
}

Status PodControls::set_limit(const port::CgroupPlace& pod, Bytes limit) const {
    const auto file = open(pod, "memory.high", O_WRONLY);
    return file ? sys::write_text(file->get(), limit == port::no_limit ? "max" : std::to_string(limit.value))
                : tl::unexpected(file.error());
}

Result<bool> PodControls::is_frozen(const port::CgroupPlace& pod) const {
    const auto word = read_word(open_freezer(pod, O_RDONLY));
    return word.map([&](const std::string& state) { return hierarchies_.v2 ? state == "1" : state != "THAWED"; });
}

Status PodControls::set_frozen(const port::CgroupPlace& pod, bool frozen) const {
    const auto file = open_freezer(pod, O_WRONLY);
    if (!file) {
        return tl::unexpected(file.error());
    }
    return sys::write_text(file->get(), hierarchies_.v2 ? (frozen ? "1" : "0") : (frozen ? "FROZEN" : "THAWED"));
}

}  // namespace evictd::kernel

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/pod_process.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace evictd::kernel_test {
namespace {

constexpr Bytes most_memory = 512_MiB;
constexpr char inside = 'i';

int whole_milliseconds(Duration duration) {
    return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

bool readable(int fd, Duration within) {
    pollfd wanted{.fd = fd, .events = POLLIN, .revents = 0};
    return ::poll(&wanted, 1, whole_milliseconds(within)) > 0;
}

// Whether this process is in `path` of the memory hierarchy, as the kernel says.
bool is_inside(const std::string& path) {
    std::ifstream lines("/proc/self/cgroup");
    const std::string prefix = std::to_string(hierarchies().memory_id) + ":";
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(prefix) && line.substr(line.find(':', prefix.size()) + 1) == path) return true;
    }
    return false;
}

[[noreturn]] void live(const TestCgroups& cgroups, const std::string& cgroup, int socket,
                       const PodProcess::Body& body) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // BPF links, eventfds and cgroup directories of the test must not live on in here.
    const int kept = ::dup2(socket, 3);
    (void)::syscall(SYS_close_range, kept + 1, ~0U, 0U);
    cgroups.enter(cgroup, ::getpid());
    if (!is_inside(cgroups.path(cgroup))) ::_exit(99);
    const Line line(kept);
    line.say(inside);
    if (body) {
        body(line);
    } else {
        for (;;) ::pause();
    }
    ::_exit(0);
}

}  // namespace

void Line::say(char letter) const {
    if (::write(fd_, &letter, 1) != 1) ::_exit(98);
}

char Line::hear() const {
    char letter = 0;
    if (::read(fd_, &letter, 1) != 1) ::_exit(97);
    return letter;
}

PodProcess::PodProcess(const TestCgroups& cgroups, const std::string& cgroup, const Body& body) {
    int ends[2]{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) live(cgroups, cgroup, ends[1], body);
    ::close(ends[1]);
    line_ = sys::Fd(ends[0]);
    handle_ = sys::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0U)));
    EXPECT_EQ(hear(), inside) << "the process did not get into " << cgroups.path(cgroup);
}

PodProcess::PodProcess(PodProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      line_(std::move(other.line_)),
      handle_(std::move(other.handle_)),
      status_(other.status_) {}

PodProcess::~PodProcess() {
    if (pid_ == 0 || status_) return;
    ::kill(pid_, SIGKILL);
    (void)wait(std::chrono::seconds(10));  // a frozen one ends with its cgroup
}

void PodProcess::say(char letter) const { EXPECT_EQ(::send(line_.get(), &letter, 1, MSG_NOSIGNAL), 1); }

std::optional<char> PodProcess::hear(Duration within) const {
    char letter = 0;
    if (!readable(line_.get(), within) || ::read(line_.get(), &letter, 1) != 1) return std::nullopt;
    return letter;
}

std::optional<int> PodProcess::wait(Duration within) {
    int status = 0;
    if (!status_ && readable(handle_.get(), within) && ::waitpid(pid_, &status, 0) == pid_) status_ = status;
    return status_;
}

bool PodProcess::running() { return !wait(Duration{0}); }

bool PodProcess::killed_by(int signal_number) {
    const auto status = wait();
    return status && WIFSIGNALED(*status) && WTERMSIG(*status) == signal_number;
}

void touch(Bytes amount) {
    const auto size = static_cast<std::size_t>(std::min(amount, most_memory).value);
    void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) ::_exit(96);
    (void)::madvise(memory, size, MADV_NOHUGEPAGE);  // the amount asked for, not up to 2 MiB more
    std::memset(memory, 1, size);
}

void read_once(const std::string& file, Bytes amount) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) ::_exit(95);
    std::vector<char> buffer(64 * 1024);
    for (std::int64_t done = 0; done < amount.value;) {
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got <= 0) break;
        done += got;
    }
    ::close(fd);
}

// Classic lists make a page active at its second read; the generations of the other one, where a fault brings it in.
void use_often(const std::string& file, Bytes amount) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    const auto size = static_cast<std::size_t>(std::min(amount, most_memory).value);
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) ::_exit(94);
    constexpr std::size_t page = 4096;
    for (std::size_t at = 0; at < size; at += page) (void)static_cast<const volatile char*>(memory)[at];
    for (int time = 0; time < 3; time++) read_once(file, amount);
    ::close(fd);
}

// One hole: reading it fills the page cache as any file does, and never waits for a disk.
ColdFile::ColdFile(Bytes size) {
    std::string name = "/var/tmp/evictd-test-XXXXXX";
    const sys::Fd file(::mkstemp(name.data()));
    path_ = name;
    EXPECT_EQ(::ftruncate(file.get(), size.value), 0) << path_;
}

ColdFile::~ColdFile() { ::unlink(path_.c_str()); }

}  // namespace evictd::kernel_test

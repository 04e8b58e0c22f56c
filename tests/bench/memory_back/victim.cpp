// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "victim.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace evictd::bench {
namespace {

constexpr std::int64_t page = 4096;
constexpr std::int64_t huge_page = std::int64_t{2} << 20U;
constexpr unsigned longest_spin_seconds = 300;
constexpr const char* root = "/sys/fs/cgroup";

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// As runc converts them.
int weight_of(int shares) { return 1 + ((shares - 2) * 9999 / 262142); }

std::int64_t huge_kib() {
    std::ifstream file("/proc/self/smaps_rollup");
    std::string word;
    while (file >> word) {
        if (std::int64_t kib = 0; word == "AnonHugePages:" && file >> kib) return kib;
    }
    die("smaps_rollup");
}

}  // namespace

void die(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

pid_t start_child(const std::function<void()>& work) {
    const pid_t pid = ::fork();
    if (pid < 0) die("fork");
    if (pid > 0) return pid;
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
        work();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        ::_exit(2);
    }
    ::_exit(0);
}

PodCgroups::PodCgroups(std::int64_t limit, int shares) : v2_(!exists(std::string(root) + "/memory/cgroup.procs")) {
    const std::string name = "/evictd-memory-back-" + std::to_string(::getpid());
    memory_ = root + std::string(v2_ ? "" : "/memory") + name;
    if (::mkdir(memory_.c_str(), 0755) != 0) die("mkdir " + memory_);
    if (v2_) {
        cpu_ = memory_;
    } else if (exists(std::string(root) + "/cpu/cpu.shares")) {
        cpu_ = root + std::string("/cpu") + name;
        if (::mkdir(cpu_.c_str(), 0755) != 0) die("mkdir " + cpu_);
    }
    if (!write(memory_, v2_ ? "memory.max" : "memory.limit_in_bytes", std::to_string(limit))) die("the memory limit");
    set_shares(shares);
    auto usage = sys::open(memory_ + (v2_ ? "/memory.current" : "/memory.usage_in_bytes"), O_RDONLY);
    if (!usage) die("the memory usage");
    usage_ = std::move(*usage);
}

PodCgroups::~PodCgroups() {
    for (const auto* directory : {&memory_, &cpu_}) {
        for (int tries = 0; !directory->empty() && ::rmdir(directory->c_str()) != 0 && tries < 1000; tries++) {
            if (errno != EBUSY) break;
            (void)::usleep(10'000);
        }
    }
}

bool PodCgroups::write(const std::string& directory, const std::string& file, const std::string& text) const {
    const auto opened = sys::open(directory + "/" + file, O_WRONLY);
    return opened && sys::write_text(opened->get(), text);
}

void PodCgroups::set_shares(int shares) const {
    if (cpu_.empty()) return;
    const bool written = v2_ ? write(cpu_, "cpu.weight", std::to_string(weight_of(shares)))
                             : write(cpu_, "cpu.shares", std::to_string(shares));
    if (!written) die("the CPU weight");
}

void PodCgroups::enter() const {
    if (!write(memory_, "cgroup.procs", "0")) die("cannot enter " + memory_);
    if (!cpu_.empty() && cpu_ != memory_ && !write(cpu_, "cgroup.procs", "0")) die("cannot enter " + cpu_);
}

void PodCgroups::kill_all() const {
    if (!write(memory_, "cgroup.kill", "1")) die("cgroup.kill");
}

std::int64_t PodCgroups::usage() const {
    std::array<char, 32> text{};
    std::int64_t bytes = 0;
    const auto length = ::pread(usage_.get(), text.data(), text.size(), 0);
    if (length <= 0) die("the memory usage");
    (void)std::from_chars(text.data(), text.data() + length, bytes);
    return bytes;
}

std::vector<char*> take(const Holding& holding) {
    const auto piece = holding.bytes / holding.pieces / huge_page * huge_page;
    const auto huge_before = huge_kib();
    std::vector<char*> pieces;
    for (int i = 0; i < holding.pieces; i++) {
        // Twice the alignment more, never touched: mappings that touch would become one.
        void* mapped = ::mmap(nullptr, static_cast<std::size_t>(piece + (2 * huge_page)), PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped == MAP_FAILED) die("mmap");
        const auto address = reinterpret_cast<std::uintptr_t>(mapped);
        auto* start = static_cast<char*>(mapped) + (huge_page - static_cast<std::int64_t>(address % huge_page));
        const auto size = static_cast<std::size_t>(piece);
        if (::mprotect(start, size, PROT_READ | PROT_WRITE) != 0) die("mprotect");
        if (::madvise(start, size, holding.huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0) die("madvise");
        for (std::int64_t at = 0; at < piece; at += page) *const_cast<volatile char*>(start + at) = 1;
        pieces.push_back(start);
    }
    const auto huge = (huge_kib() - huge_before) * 1024;
    errno = ENOMEM;
    if (holding.huge ? huge < holding.bytes * 95 / 100 : huge > 0) die("not the pages that were asked for");
    return pieces;
}

Victim::Victim(const PodCgroups& cgroups, const Holding& holding) : bytes_(holding.bytes) {
    std::array<int, 2> ready{};
    if (::pipe2(ready.data(), O_CLOEXEC) != 0) die("pipe");
    const sys::Fd out(ready[0]);
    sys::Fd in(ready[1]);
    pid_ = start_child([&] {
        cgroups.enter();
        (void)take(holding);
        if (::write(in.get(), "x", 1) == 1) (void)::pause();
    });
    in.reset();
    char answer = 0;
    if (::read(out.get(), &answer, 1) != 1) die("a victim ended early");
    pidfd_ = sys::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0U)));
    if (!pidfd_) die("pidfd_open");
}

Victim::~Victim() {
    if (!pidfd_) return;
    (void)::kill(pid_, SIGKILL);
    (void)::waitpid(pid_, nullptr, 0);
}

Spinners::Spinners(int count) {
    for (int i = 0; i < count; i++) {
        pids_.push_back(start_child([] {
            (void)::alarm(longest_spin_seconds);  // its default is death
            for (std::atomic<unsigned> turns = 0;; turns++) {}
        }));
    }
}

Spinners::~Spinners() {
    for (const pid_t pid : pids_) {
        (void)::kill(pid, SIGKILL);
        (void)::waitpid(pid, nullptr, 0);
    }
}

}  // namespace evictd::bench

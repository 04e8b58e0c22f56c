// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "workload.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/clock.hpp"

namespace evictd::bench {
namespace {

struct Order {
    std::size_t kind;
    int rounds;
};

constexpr std::size_t faulted = std::size_t{1} << 20U;  // in one round, page by page
constexpr std::size_t page = 4096;
// A round of reclaim takes milliseconds, and as often as not twice what the last one took: a slice wants more of them.
constexpr double reclaim_times = 10;

// What goes wrong in the pod ends it there: a slice with half its work must not be timed.
void must(bool done) {
    if (!done) {
        _exit(6);
    }
}

void fault() {
    void* mapped = mmap(nullptr, faulted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(mapped != MAP_FAILED);
    (void)madvise(mapped, faulted, MADV_NOHUGEPAGE);
    for (std::size_t at = 0; at < faulted; at += page) {
        static_cast<volatile char*>(mapped)[at] = 1;
    }
    (void)munmap(mapped, faulted);
}

void fork_one() {
    const pid_t pid = fork();
    if (pid == 0) {
        _exit(0);
    }
    must(pid > 0 && waitpid(pid, nullptr, 0) == pid);
}

void enter(const std::string& cgroup) {
    const int file = open((cgroup + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
    must(file >= 0 && write(file, "0", 1) == 1);
    (void)close(file);
}

// As a container does that starts services of its own.
void churn(const std::string& cgroup) {
    const std::string below = cgroup + "/service";
    must(mkdir(below.c_str(), 0755) == 0);
    enter(below);
    enter(cgroup);
    must(rmdir(below.c_str()) == 0);
}

// A file of which half fits, read from its beginning each time: the second half has to push out the first.
class ColdFile {
public:
    explicit ColdFile(const std::string& directory)
        : file_(open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)), buffer_(read_at_once) {
        must(file_ && ftruncate(file_.get(), size) == 0);
    }
    void read_all() {
        must(posix_fadvise(file_.get(), 0, 0, POSIX_FADV_DONTNEED) == 0);
        for (off_t at = 0; at < size; at += static_cast<off_t>(buffer_.size())) {
            must(pread(file_.get(), buffer_.data(), buffer_.size(), at) == static_cast<ssize_t>(buffer_.size()));
        }
    }

private:
    static constexpr std::size_t read_at_once = std::size_t{64} << 10U;
    static constexpr off_t size = 2 * workload_limit.value;

    sys::Fd file_;
    std::vector<char> buffer_;
};

class Loopback {
public:
    Loopback() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        address_.sin_family = AF_INET;
        address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address_);
        must(bind(listener_.get(), generic(), size) == 0 && listen(listener_.get(), 1) == 0 &&
             getsockname(listener_.get(), generic(), &size) == 0);
    }
    // Closed with a reset: otherwise the ports of a minute would all be waiting for their end.
    void connect_one() {
        const sys::Fd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        must(connect(client.get(), generic(), sizeof(address_)) == 0);
        const sys::Fd server(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        const linger reset{.l_onoff = 1, .l_linger = 0};
        must(server && setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) == 0);
    }

private:
    sockaddr* generic() { return reinterpret_cast<sockaddr*>(&address_); }

    sys::Fd listener_;
    sockaddr_in address_{};
};

double microseconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
}

double cpu_us() {
    double sum = 0;
    for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage usage{};
        must(getrusage(who, &usage) == 0);
        sum += microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
    }
    return sum;
}

void do_one(std::size_t kind, const std::string& cgroup, ColdFile& file, Loopback& loopback) {
    switch (kind) {
        case 0:
            return fault();
        case 1:
            return fork_one();
        case 2:
            return churn(cgroup);
        case reclaim_kind:
            return file.read_all();
        default:
            return loopback.connect_one();
    }
}

// The life of the process: an order, a slice of work, its times.
void work(int orders, int answers, const std::string& cgroup, const std::string& directory) {
    const sys::SystemClock clock;
    ColdFile file(directory);
    Loopback loopback;
    Order order{};
    while (read(orders, &order, sizeof(order)) == sizeof(order)) {
        const auto begin = clock.monotonic();
        const double cpu = cpu_us();
        for (int i = 0; i < order.rounds; i++) {
            do_one(order.kind, cgroup, file, loopback);
        }
        const Slice slice{cpu_us() - cpu, std::chrono::duration<double, std::micro>(clock.monotonic() - begin).count()};
        must(write(answers, &slice, sizeof(slice)) == sizeof(slice));
    }
}

struct Pipe {
    sys::Fd out;
    sys::Fd in;
};

Result<Pipe> make_pipe() {
    std::array<int, 2> ends{};
    return pipe2(ends.data(), O_CLOEXEC) == 0 ? Result<Pipe>(Pipe{sys::Fd(ends[0]), sys::Fd(ends[1])})
                                              : sys::fail_errno("pipe", errno);
}

}  // namespace

Result<std::unique_ptr<Workload>> Workload::start(PodTree& tree, const BenchPod& pod, Slice wanted) {
    auto orders = make_pipe();
    auto answers = make_pipe();
    if (!orders || !answers) {
        return tl::unexpected(orders ? answers.error() : orders.error());
    }
    if (auto limited = tree.set_limit(pod, workload_limit); !limited) {
        return tl::unexpected(limited.error());
    }
    std::unique_ptr<Workload> workload(new Workload);
    const std::string cgroup = tree.hierarchies().memory + pod.cgroup;
    auto pid = tree.start(pod, [&] {
        orders->in.reset();  // else it would wait for itself
        work(orders->out.get(), answers->in.get(), cgroup, tree.manifests());
    });
    if (!pid) {
        return tl::unexpected(pid.error());
    }
    workload->pid_ = *pid;
    workload->orders_ = std::move(orders->in);
    workload->answers_ = std::move(answers->out);
    for (std::size_t kind = 0; kind < workload_names.size(); kind++) {
        const double times = kind == reclaim_kind ? reclaim_times : 1;
        if (auto done = workload->calibrate(kind, {wanted.cpu_us * times, wanted.wall_us * times}); !done) {
            return tl::unexpected(done.error());
        }
    }
    return workload;
}

// Whichever is reached first: a cgroup costs little CPU time and much waiting.
Status Workload::calibrate(std::size_t kind, Slice wanted) {
    for (int rounds = 1;; rounds *= 2) {
        const auto slice = run(kind, rounds);
        if (!slice) {
            return tl::unexpected(slice.error());
        }
        const double share = std::max(slice->cpu_us / wanted.cpu_us, slice->wall_us / wanted.wall_us);
        if (share > 0.25) {
            rounds_.at(kind) = std::max(1, static_cast<int>(rounds / share));
            return {};
        }
    }
}

Workload::~Workload() {
    orders_.reset();
    if (pid_ > 0) {
        (void)kill(pid_, SIGKILL);
        (void)waitpid(pid_, nullptr, 0);
    }
}

Result<Slice> Workload::run(std::size_t kind) {
    const auto warm = run(kind, rounds_.at(kind) / 4 + 1);
    return warm ? run(kind, rounds_.at(kind)) : warm;
}

Result<Slice> Workload::run(std::size_t kind, int rounds) {
    const Order order{kind, rounds};
    Slice slice;
    if (write(orders_.get(), &order, sizeof(order)) != sizeof(order) ||
        read(answers_.get(), &slice, sizeof(slice)) != sizeof(slice)) {
        return fail(ErrorKind::failed, workload_names.at(kind), "the workload ended");
    }
    return slice;
}

}  // namespace evictd::bench

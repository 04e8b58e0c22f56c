// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// attacker: what a hostile pod does, one attack a mode. It runs in cgroups with a memory limit only, never outside of
// them. Static, because thousands of its processes run at once and because it runs in the guests of tests/vm, too.
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuse_server.hpp"
#include "load/hoard.hpp"
#include "load/say.hpp"
#include "load/work.hpp"

namespace {

constexpr std::size_t mib = std::size_t{1} << 20U;
constexpr std::size_t page = 4096;
constexpr std::size_t table_span = std::size_t{2} << 20U;  // what one page of page table maps on x86-64 and arm64

constexpr const char* usage =
    "usage: attacker [OPTION...] MODE ARGUMENT...\n"
    "  --in DIR       enter this cgroup directory first; once for each hierarchy\n"
    "  --deaf         block SIGTERM\n"
    "  --ready FILE   make FILE when the attack is set up\n"
    "modes:\n"
    "  hold MIB                   hold memory\n"
    "  unmapped MIB               hold huge pages in pipes that are mapped by nobody\n"
    "  grow MIB_PER_S             take memory at this rate, for ever\n"
    "  breathe MIB MS             take memory and give it back, again and again, each for MS\n"
    "  main_thread MIB            the main thread exits; another one holds MIB\n"
    "  fill FILE MIB              write a file and exit (tmpfs: memory that no kill returns)\n"
    "  read FILE                  read a file and exit (page cache)\n"
    "  reread FILE                read a file again and again\n"
    "  memfd SOCKET MIB           leave MIB in a memfd in the queue of SOCKET's owner, and exit\n"
    "  listen SOCKET              own SOCKET, and never accept\n"
    "  dentries DIR COUNT         COUNT names that are not there, which the kernel remembers; exit\n"
    "  tables MIB                 MIB of page tables, and next to no other memory\n"
    "  many COUNT MIB             COUNT processes, one of which holds MIB\n"
    "  chains COUNT MIB           COUNT chains of processes, each forks the next and ends; one more holds MIB\n"
    "  bomb                       every process forks as fast as it can, and reaps nobody\n"
    "  hop PROCESSES MIB DIR...   each process moves from cgroup to cgroup\n"
    "  rename MIB DIR             rename DIR/a to DIR/b and back\n"
    "  cgroups DIR COUNT          make COUNT cgroups in DIR, and exit\n"
    "  limits DIR COUNT FILE      make COUNT cgroups of 1 MiB in DIR, and hit the limit of each by reading FILE, for "
    "ever\n"
    "  oom                        a child takes memory until it is killed, again and again\n"
    "  score VALUE                write its own oom_score_adj, again and again\n"
    "  lock FILE                  flock FILE exclusively, and keep it\n"
    "  withhold DIR GO            mount a FUSE file DIR/f that answers no write until the file GO is there\n"
    "  dirty FILE                 dirty a mapping of FILE and have it written back\n"
    "  unreaped COMMAND...        run a command and never reap it; prints its pid\n"
    "  adopt COMMAND...           the same, and all that it leaves behind is not reaped either\n"
    "  notified SOCKET MS         own SOCKET as systemd owns NOTIFY_SOCKET; print what comes for MS\n";

using Words = std::vector<std::string>;

using evictd::load::die;
using evictd::load::die_errno;
using evictd::load::rest;

void sleep_ms(long ms) { evictd::load::sleep_ns(std::int64_t{ms} * 1'000'000); }

std::size_t number(std::string_view text) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) die("'" + std::string(text) + "' is not a number");
    return value;
}

std::string ready_file;  // NOLINT(*-avoid-non-const-global-variables): of --ready, for every mode

void ready() {
    if (ready_file.empty()) return;
    const int file = ::open(ready_file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) die_errno(ready_file);
    (void)::close(file);
    ready_file.clear();
}

bool enter(const std::string& group) {
    const int file = ::open((group + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
    const bool entered = file >= 0 && ::write(file, "0", 1) == 1;
    if (file >= 0) (void)::close(file);
    return entered;
}

volatile char* map(std::size_t size, int protection, int kind) {
    void* at = ::mmap(nullptr, size, protection, kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) die_errno("mmap");
    return static_cast<volatile char*>(at);
}

void take(std::size_t size_mib) {
    if (size_mib == 0) return;
    volatile char* start = map(size_mib * mib, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    for (std::size_t at = 0; at < size_mib * mib; at += page) start[at] = 1;
}

void hold(const Words& words) {
    take(number(words.at(0)));
    ready();
    rest();
}

// Huge pages of which a pipe holds a piece and nobody maps any: charged, and counted as no kind of memory.
void unmapped(const Words& words) {
    constexpr std::size_t huge = 2 * mib;
    constexpr std::size_t slots = 15;  // a pipe has 16
    int ends[2] = {-1, -1};            // NOLINT(*-avoid-c-arrays): what pipe2() wants
    ready();
    for (std::size_t taken = 0; taken < number(words.at(0)) * mib / huge; taken++) {
        if (taken % slots == 0 && ::pipe2(ends, O_CLOEXEC) != 0) die_errno("pipe2");
        void* start = ::mmap(nullptr, 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (start == MAP_FAILED) die_errno("mmap");
        char* at = static_cast<char*>(start) + (huge - reinterpret_cast<std::uintptr_t>(start) % huge);
        (void)::madvise(at, huge, MADV_HUGEPAGE);
        std::memset(at, 1, huge);
        const iovec piece{at, page};
        if (::vmsplice(ends[1], &piece, 1, 0) < 0) die_errno("vmsplice");
        ::munmap(start, 2 * huge);
    }
    rest();
}

void grow(const Words& words) {
    const std::size_t rate = number(words.at(0)) * mib;
    evictd::load::Hoard hoard(std::size_t{64} << 30U, false);
    ready();
    hoard.grow(rate, true);
    rest();
}

void breathe(const Words& words) {
    const std::size_t size = number(words.at(0)) * mib;
    const auto ms = static_cast<long>(number(words.at(1)));
    for (;;) {
        volatile char* start = map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE);
        for (std::size_t at = 0; at < size; at += page) start[at] = 1;
        ready();
        sleep_ms(ms);
        (void)::munmap(const_cast<char*>(start), size);
        sleep_ms(ms);
    }
}

void* hold_in_thread(void* size_mib) {
    take(*static_cast<std::size_t*>(size_mib));
    sleep_ms(50);  // until the main thread is gone
    ready();
    rest();
}

void main_thread(const Words& words) {
    static std::size_t size = 0;
    size = number(words.at(0));
    pthread_t thread{};
    if (::pthread_create(&thread, nullptr, hold_in_thread, &size) != 0) die("pthread_create");
    ::pthread_exit(nullptr);
}

void write_all(int file, std::size_t size) {
    const std::vector<char> text(mib, 'x');
    for (std::size_t done = 0; done < size;) {
        const ssize_t wrote = ::write(file, text.data(), std::min(text.size(), size - done));
        if (wrote <= 0) die_errno("write");
        done += static_cast<std::size_t>(wrote);
    }
}

void fill(const Words& words) {
    const int file = ::open(words.at(0).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) die_errno(words.at(0));
    write_all(file, number(words.at(1)) * mib);
    ready();
}

void read_once(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) die_errno(path);
    std::vector<char> text(mib);
    while (::read(file, text.data(), text.size()) > 0) {}
    (void)::close(file);
}

void read(const Words& words) {
    read_once(words.at(0));
    ready();
}

void reread(const Words& words) {
    for (;;) {
        read_once(words.at(0));
        ready();
    }
}

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) die(path + ": too long for a socket");
    std::memcpy(address.sun_path, path.c_str(), path.size());
    return address;
}

int bound_socket(const std::string& path, int type) {
    const sockaddr_un address = address_of(path);
    const int listening = ::socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    (void)::unlink(path.c_str());
    // NOLINTNEXTLINE(*-reinterpret-cast): the sockets API
    if (::bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) die_errno(path);
    return listening;
}

void listen(const Words& words) {
    if (::listen(bound_socket(words.at(0), SOCK_STREAM), 16) != 0) die_errno(words.at(0));
    ready();
    rest();
}

void memfd(const Words& words) {
    int file = ::memfd_create("hostile", MFD_CLOEXEC);
    if (file < 0) die_errno("memfd_create");
    write_all(file, number(words.at(1)) * mib);
    const sockaddr_un address = address_of(words.at(0));
    const int sock = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // NOLINTNEXTLINE(*-reinterpret-cast): the sockets API
    if (::connect(sock, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) die_errno(words.at(0));
    char byte = 'x';
    iovec part{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
    if (::sendmsg(sock, &message, 0) != 1) die_errno("sendmsg");
    ready();
}

void dentries(const Words& words) {
    const std::string filler(200, 'x');  // a long name has memory of its own
    struct stat ignored {};
    for (std::size_t i = 0; i < number(words.at(1)); i++) {
        (void)::stat((words.at(0) + "/" + std::to_string(i) + filler).c_str(), &ignored);
    }
    ready();
}

void tables(const Words& words) {
    const std::size_t size = number(words.at(0)) * mib / page * table_span;
    volatile char* start = map(size, PROT_READ, MAP_PRIVATE);
    (void)::madvise(const_cast<char*>(start), size, MADV_NOHUGEPAGE);
    for (std::size_t at = 0; at < size; at += table_span) (void)start[at];  // the zero page: a table, and no memory
    ready();
    rest();
}

void many(const Words& words) {
    for (std::size_t i = 1; i < number(words.at(0)); i++) {
        const pid_t child = ::fork();
        if (child < 0) die_errno("fork");
        if (child == 0) rest();
    }
    take(number(words.at(1)));
    ready();
    rest();
}

// Every process of a chain forks the next and ends: whoever lists them lists the dead. The cgroup bounds their number.
void chains(const Words& words) {
    (void)std::signal(SIGCHLD, SIG_IGN);
    for (std::size_t i = 0; i < number(words.at(0)); i++) {
        if (::fork() != 0) continue;
        for (;;) {
            sleep_ms(1);
            if (::fork() > 0) _exit(0);
        }
    }
    take(number(words.at(1)));
    ready();
    rest();
}

void bomb(const Words&) {
    ready();
    for (;;) (void)::fork();
}

void hop(const Words& words) {
    const Words groups(words.begin() + 2, words.end());
    for (std::size_t i = 1; i < number(words.at(0)); i++) {
        const pid_t child = ::fork();
        if (child < 0) die_errno("fork");
        if (child == 0) {
            ready_file.clear();
            for (std::size_t at = i;; at++) (void)enter(groups.at(at % groups.size()));
        }
    }
    take(number(words.at(1)));
    ready();
    for (std::size_t at = 0;; at++) (void)enter(groups.at(at % groups.size()));
}

void rename(const Words& words) {
    const std::string a = words.at(1) + "/a";
    const std::string b = words.at(1) + "/b";
    take(number(words.at(0)));
    ready();
    for (;;) {
        (void)std::rename(a.c_str(), b.c_str());
        (void)std::rename(b.c_str(), a.c_str());
    }
}

void cgroups(const Words& words) {
    for (std::size_t i = 0; i < number(words.at(1)); i++) {
        if (::mkdir((words.at(0) + "/n" + std::to_string(i)).c_str(), 0755) != 0) die_errno("mkdir");
    }
    ready();
}

void limit(const std::string& directory) {
    for (const char* name : {"/memory.max", "/memory.limit_in_bytes"}) {
        const int file = ::open((directory + name).c_str(), O_WRONLY | O_CLOEXEC);
        if (file >= 0) (void)!::write(file, "1048576", 7);
        (void)::close(file);
    }
}

// Each reads holes of its own: what is in the page cache already would be charged to another.
void limits(const Words& words) {
    cgroups(words);
    constexpr off_t share = 4 << 20;
    const int file = ::open(words.at(2).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ::ftruncate(file, share * static_cast<off_t>(number(words.at(1)))) != 0) die_errno(words.at(2));
    std::vector<char> text(mib + mib / 8);  // much more, and a cgroup takes 65 ms and not 5
    for (;;) {
        for (std::size_t i = 0; i < number(words.at(1)); i++) {
            const auto group = words.at(0) + "/n" + std::to_string(i);
            limit(group);
            if (!enter(group)) die_errno(group);
            (void)!::pread(file, text.data(), text.size(), share * static_cast<off_t>(i));
        }
    }
}

void oom(const Words& /*words*/) {
    ready();
    for (;;) {
        const pid_t child = ::fork();
        if (child == 0) {
            (void)!::write(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC), "1000", 4);
            take(4096);
            _exit(0);
        }
        (void)::waitpid(child, nullptr, 0);
    }
}

void score(const Words& words) {
    ready();
    const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    for (;;) {
        (void)!::pwrite(file, words.at(0).data(), words.at(0).size(), 0);
        sleep_ms(1);
    }
}

void lock(const Words& words) {
    const int file = ::open(words.at(0).c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 || ::flock(file, LOCK_EX | LOCK_NB) != 0) die_errno(words.at(0));
    ready();
    rest();
}

void withhold(const Words& words) {
    if (!serve_unanswered_writes(words.at(0), words.at(1), ready)) die_errno("fuse at " + words.at(0));
}

void dirty(const Words& words) {
    const int file = ::open(words.at(0).c_str(), O_RDWR | O_CLOEXEC);
    struct stat status {};
    if (file < 0 || ::fstat(file, &status) != 0) die_errno(words.at(0));
    const auto size = static_cast<std::size_t>(status.st_size);
    void* start = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (start == MAP_FAILED) die_errno("mmap");
    for (std::size_t at = 0; at < size; at += page) static_cast<volatile char*>(start)[at] = 1;
    (void)::sync_file_range(file, 0, status.st_size, SYNC_FILE_RANGE_WRITE);
    ready();
    rest();
}

void unreaped(const Words& words) {
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        (void)::execvp(arguments[0], arguments.data());
        die_errno(words.at(0));
    }
    (void)std::printf("%d\n", static_cast<int>(child));
    (void)std::fflush(stdout);
    ready();
    rest();
}

void adopt(const Words& words) {
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) die_errno("prctl");
    unreaped(words);
}

void notified(const Words& words) {
    const int sock = bound_socket(words.at(0), SOCK_DGRAM);
    ready();
    timespec began{};
    (void)::clock_gettime(CLOCK_MONOTONIC, &began);
    const timeval patience{0, 100'000};
    (void)::setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    for (;;) {
        timespec now{};
        (void)::clock_gettime(CLOCK_MONOTONIC, &now);
        const auto ms = (now.tv_sec - began.tv_sec) * 1000 + (now.tv_nsec - began.tv_nsec) / 1'000'000;
        if (ms >= static_cast<std::int64_t>(number(words.at(1)))) return;
        std::array<char, 4096> text{};
        const ssize_t got = ::recv(sock, text.data(), text.size() - 1, 0);
        if (got > 0) (void)std::printf("%lld %s\n", static_cast<long long>(ms), text.data());
        (void)std::fflush(stdout);
    }
}

const std::map<std::string, std::function<void(const Words&)>>& modes() {
    static const std::map<std::string, std::function<void(const Words&)>> all{
        {"hold", hold},         {"grow", grow},         {"main_thread", main_thread},
        {"fill", fill},         {"read", read},         {"reread", reread},
        {"memfd", memfd},       {"listen", listen},     {"dentries", dentries},
        {"tables", tables},     {"many", many},         {"hop", hop},
        {"rename", rename},     {"cgroups", cgroups},   {"oom", oom},
        {"score", score},       {"chains", chains},     {"lock", lock},
        {"unreaped", unreaped}, {"notified", notified}, {"withhold", withhold},
        {"unmapped", unmapped}, {"dirty", dirty},       {"breathe", breathe},
        {"limits", limits},     {"bomb", bomb},         {"adopt", adopt},
    };
    return all;
}

void block_terminate() {
    sigset_t set{};
    (void)::sigemptyset(&set);
    (void)::sigaddset(&set, SIGTERM);
    (void)::sigprocmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
    evictd::load::set_name("attacker");
    Words words(argv + 1, argv + argc);
    while (!words.empty() && words.front().starts_with("--")) {
        const std::string option = words.front();
        words.erase(words.begin());
        if (option == "--deaf") {
            block_terminate();
            continue;
        }
        if (words.empty()) die(option + " needs a value");
        if (option == "--ready") {
            ready_file = words.front();
        } else if (option != "--in") {
            die("unknown option " + option + "\n" + usage);
        } else if (!enter(words.front())) {
            die_errno(words.front());
        }
        words.erase(words.begin());
    }
    if (words.empty() || !modes().contains(words.front())) die(usage);
    const auto& attack = modes().at(words.front());
    words.erase(words.begin());
    try {
        attack(words);
    } catch (const std::exception&) {
        die(usage);
    }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// vm_load: what runs in the pods of a guest: memory that is held, memory that grows, a fork bomb. Static, so that a
// thousand of them cost little. It measures nothing, but says when it begins. Page cache and I/O are busybox dd's.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

constexpr std::size_t mib = std::size_t{1} << 20U;
constexpr std::size_t page = 4096;
// More than any guest has: without --up-to, growth ends by somebody's hand.
constexpr std::size_t endless_mib = std::size_t{64} << 10U;
// How finely a rate is kept: at 500 MiB/s half a MiB at a time. Finer and an emulated CPU does nothing but sleep.
constexpr std::int64_t bite_ns = 1'000'000;
// A sleep takes longer than it should where the CPU is emulated; this is longer than that.
constexpr std::int64_t stall_ns = 100'000'000;
// After a stall, growth goes on at most so much faster: it may catch up, but never leap over a threshold.
constexpr std::int64_t most_bites = 5;

constexpr const char* usage =
    "usage: vm_load hold MIB [OPTION...]\n"
    "       vm_load grow MIB_PER_S|max [PROCESSES] [OPTION...]   the rate is that of all processes together\n"
    "       vm_load bomb PROCESSES [OPTION...]                   each forks and ends; needs a cgroup with pids.max\n"
    "  --in DIR        enter this cgroup directory first; once for each hierarchy\n"
    "  --hold MIB      grow: hold this much before being ready (all processes together)\n"
    "  --up-to MIB     grow: stop there and hold it\n"
    "  --steady        grow: what was not taken during a stall is not made up for\n"
    "  --after FILE    be ready, and begin when FILE exists; - is a byte on stdin\n"
    "  --term-ms MS    on SIGTERM take MS to end, instead of ending at once\n"
    "  --shared        memory that is gone with the last process only, not when it is killed\n"
    "  --first         before others who want the CPU\n"
    "  --write FILE    hold: then append to FILE for ever, a page at a time\n"
    "Prints 'ready PID NS' when it holds what it should, 'begun PID NS' when it grows or forks, 'asked PID NS' on\n"
    "SIGTERM; NS is CLOCK_MONOTONIC.\n";

struct Options {
    std::string verb;
    std::size_t rate = 0;  // MiB/s; 0: as fast as it goes
    std::size_t processes = 1;
    std::size_t hold = 0;
    std::size_t up_to = endless_mib;
    std::vector<std::string> groups;
    std::string after;
    long term_ms = -1;
    bool shared = false;
    bool first_served = false;
    bool steady = false;
    std::string write;
};

[[noreturn]] void die(const std::string& what) {
    (void)std::fprintf(stderr, "vm_load: %s\n", what.c_str());
    std::exit(2);
}

std::int64_t now_ns() {
    timespec time{};
    (void)::clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void sleep_ns(std::int64_t duration) {
    const timespec time{duration / 1'000'000'000, duration % 1'000'000'000};
    (void)::nanosleep(&time, nullptr);
}

// One write, so that lines of several processes do not mix; also out of a signal handler.
void say(const char* word) {
    std::array<char, 96> line{};
    const int size = std::snprintf(line.data(), line.size(), "%s %d %lld\n", word, static_cast<int>(::getpid()),
                                   static_cast<long long>(now_ns()));
    (void)!::write(STDOUT_FILENO, line.data(), static_cast<std::size_t>(size));
}

std::size_t number(std::string_view text, const char* name) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
        die(std::string(name) + ": '" + std::string(text) + "' is no number");
    }
    return value;
}

void set(Options& options, const std::string& name, const std::string& value) {
    if (name == "--in") {
        options.groups.push_back(value);
    } else if (name == "--hold") {
        options.hold = number(value, "--hold");
    } else if (name == "--up-to") {
        options.up_to = number(value, "--up-to");
    } else if (name == "--after") {
        options.after = value;
    } else if (name == "--write") {
        options.write = value;
    } else if (name == "--term-ms") {
        options.term_ms = static_cast<long>(number(value, "--term-ms"));
    } else {
        die("no option " + name + "\n" + usage);
    }
}

Options parse(const std::vector<std::string>& words) {
    Options options;
    std::vector<std::string> plain;
    for (std::size_t i = 0; i < words.size(); i++) {
        if (words[i] == "--shared") {
            options.shared = true;
        } else if (words[i] == "--first") {
            options.first_served = true;
        } else if (words[i] == "--steady") {
            options.steady = true;
        } else if (!words[i].starts_with("--")) {
            plain.push_back(words[i]);
        } else if (i + 1 < words.size()) {
            set(options, words[i], words[i + 1]);
            i++;
        } else {
            die(words[i] + " wants a value");
        }
    }
    options.verb = plain.empty() ? "" : plain[0];
    if (options.verb == "hold" && plain.size() == 2) {
        options.hold = number(plain[1], "MIB");
    } else if (options.verb == "grow" && (plain.size() == 2 || plain.size() == 3)) {
        options.rate = plain[1] == "max" ? 0 : number(plain[1], "MIB_PER_S");
        if (plain[1] != "max" && options.rate == 0) die("a rate of 0 does not grow: use hold");
        if (plain.size() == 3) options.processes = number(plain[2], "PROCESSES");
        if (options.processes == 0) die("no process at all");
    } else if (options.verb == "bomb" && plain.size() == 2) {
        options.processes = number(plain[1], "PROCESSES");
    } else {
        die(std::string("what to do?\n") + usage);
    }
    return options;
}

void enter(const std::string& group) {
    const std::string path = group + "/cgroup.procs";
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0 || ::write(file, "0", 1) != 1) die(path + ": " + std::strerror(errno));
    (void)::close(file);
}

// A bomb that nothing bounds would end the machine that it was meant to test.
bool processes_are_bounded(const Options& options) {
    for (const auto& group : options.groups) {
        const int file = ::open((group + "/pids.max").c_str(), O_RDONLY | O_CLOEXEC);
        char first = 0;
        const bool bounded = file >= 0 && ::read(file, &first, 1) == 1 && first != 'm';  // "max"
        if (file >= 0) (void)::close(file);
        if (bounded) return true;
    }
    return false;
}

void wait_for_start(const std::string& after) {
    if (after == "-") {
        char byte = 0;
        while (::read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) {}
    } else if (!after.empty()) {
        while (::access(after.c_str(), F_OK) != 0) sleep_ns(bite_ns);
    }
}

long term_ms = 0;  // NOLINT(*-avoid-non-const-global-variables): for the signal handler

void on_terminate(int /*signal*/) {
    say("asked");
    sleep_ns(std::int64_t{term_ms} * 1'000'000);
    ::_exit(0);
}

// Memory that is there but not yet taken: touching it takes it.
class Hoard {
public:
    // A killed process may be stripped of its private memory while it cannot end; of shared memory it is not.
    Hoard(std::size_t most, bool shared) : most_(most) {
        const int kind = MAP_ANONYMOUS | MAP_NORESERVE | (shared ? MAP_SHARED : MAP_PRIVATE);
        void* at = ::mmap(nullptr, most, PROT_READ | PROT_WRITE, kind, -1, 0);
        if (at == MAP_FAILED) die("mmap: " + std::string(std::strerror(errno)));
        start_ = static_cast<volatile char*>(at);
    }
    void grow_to(std::size_t size) {
        for (; taken_ < size && taken_ < most_; taken_ += page) start_[taken_] = 1;
    }
    void grow(std::size_t bytes_per_second, bool steady) {
        std::int64_t began = now_ns();
        std::int64_t last = began;
        const std::size_t from = taken_;
        const std::size_t most_at_once = std::max(page, bytes_per_second / 1000 * most_bites);
        while (taken_ < most_) {
            sleep_ns(bite_ns);
            const std::int64_t now = now_ns();
            if (steady && now - last > stall_ns) began += now - last;
            last = now;
            const auto ms = static_cast<std::size_t>((now - began) / 1'000'000);
            grow_to(std::min(from + bytes_per_second / 1000 * ms, taken_ + most_at_once));
        }
    }
    void grow_at_once() { grow_to(most_); }

private:
    std::size_t most_;
    volatile char* start_ = nullptr;
    std::size_t taken_ = 0;
};

// How many hold their share; the first process says so for all. In memory that all share.
std::atomic<std::size_t>* make_counter() {
    void* at = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) die("mmap");
    return new (at) std::atomic<std::size_t>(0);
}

[[noreturn]] void append_for_ever(const std::string& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) die(path + ": " + std::strerror(errno));
    const std::array<char, page> text{};
    for (;;) {
        if (::write(file, text.data(), text.size()) < 0) die(path + ": " + std::strerror(errno));
        sleep_ns(bite_ns * 10);
    }
}

[[noreturn]] void hold_and_grow(const Options& options) {
    auto* holding = make_counter();
    bool first = true;
    for (std::size_t i = 1; i < options.processes && first; i++) {
        const pid_t child = ::fork();
        if (child < 0) die("fork: " + std::string(std::strerror(errno)));
        first = child != 0;
    }
    const std::size_t hold = options.hold * mib / options.processes;
    const std::size_t most = options.verb == "hold" ? hold : options.up_to * mib / options.processes;
    Hoard hoard(std::max(page, most), options.shared);
    hoard.grow_to(hold);
    holding->fetch_add(1);
    while (first && holding->load() < options.processes) sleep_ns(bite_ns);
    if (first) say("ready");
    if (options.verb == "grow") {
        wait_for_start(options.after);
        if (first) say("begun");
        if (options.rate == 0) {
            hoard.grow_at_once();
        } else {
            hoard.grow(options.rate * mib / options.processes, options.steady);
        }
    }
    if (!options.write.empty()) append_for_ever(options.write);
    for (;;) (void)::pause();
}

// Every process forks and ends, and its child does the same: whoever lists them lists the dead.
[[noreturn]] void fork_for_ever(const Options& options) {
    if (!processes_are_bounded(options)) die("bomb: none of the cgroups has a pids.max");
    say("ready");
    wait_for_start(options.after);
    say("begun");
    for (std::size_t i = 1; i < options.processes && ::fork() != 0; i++) {}
    for (;;) {
        const pid_t child = ::fork();
        if (child > 0) ::_exit(0);
        if (child < 0) sleep_ns(bite_ns);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = parse(std::vector<std::string>(argv + 1, argv + argc));
    for (const auto& group : options.groups) enter(group);
    (void)std::signal(SIGCHLD, SIG_IGN);  // whoever of several is killed leaves no zombie
    if (options.first_served) (void)::setpriority(PRIO_PROCESS, 0, -20);
    if (options.term_ms >= 0) {
        term_ms = options.term_ms;
        (void)std::signal(SIGTERM, on_terminate);
    }
    if (options.verb == "bomb") fork_for_ever(options);
    hold_and_grow(options);
}

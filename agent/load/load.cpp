// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "load.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "hoard.hpp"
#include "options.hpp"
#include "say.hpp"
#include "work.hpp"

namespace evictd::load {
namespace {

constexpr std::int64_t poll_ns = 1'000'000;

void enter(const std::string& group) {
    const std::string path = group + "/cgroup.procs";
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0 || ::write(file, "0", 1) != 1) {
        die_errno(path);
    }
    (void)::close(file);
}

// A fork bomb that nothing bounds would take down the machine that it was meant to test.
bool processes_are_bounded(const Options& options) {
    return std::any_of(options.groups.begin(), options.groups.end(), [](const std::string& group) {
        const int file = ::open((group + "/pids.max").c_str(), O_RDONLY | O_CLOEXEC);
        char first = 0;
        const bool bounded = file >= 0 && ::read(file, &first, 1) == 1 && first != 'm';  // "max"
        if (file >= 0) {
            (void)::close(file);
        }
        return bounded;
    });
}

void wait_for_start(const std::string& after) {
    if (after == "-") {
        char byte = 0;
        ssize_t got = 0;
        while ((got = ::read(STDIN_FILENO, &byte, 1)) < 0 && errno == EINTR) {}
        if (got == 0) {
            ::_exit(0);  // whoever would have said it has ended
        }
    } else if (!after.empty()) {
        while (::access(after.c_str(), F_OK) != 0) {
            sleep_ns(poll_ns);
        }
    }
}

long shutdown_ms = 0;  // NOLINT(*-avoid-non-const-global-variables): for the signal handler

void on_terminate(int /*signal*/) {
    say(said_asked);
    sleep_ns(std::int64_t{shutdown_ms} * 1'000'000);
    ::_exit(0);
}

// What the first process shares with the others: how many of them hold their share, and a pipe that starts them.
class Crew {
public:
    Crew() {
        void* at = ::mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED || ::pipe2(start_, O_CLOEXEC) != 0) {
            die_errno("mmap or pipe2");
        }
        holding_ = new (at) Counter(0);
    }
    // True in the first process, false in each that it forked.
    bool assemble(std::size_t processes, bool together) {
        for (others_ = 0; others_ + 1 < processes; others_++) {
            const pid_t child = ::fork();
            if (child < 0) {
                die_errno("fork");
            }
            if (child == 0) {
                if (together) {
                    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
                }
                return false;
            }
        }
        return true;
    }
    void holds() { holding_->fetch_add(1); }
    void wait_for_all() const {
        while (holding_->load() <= others_) {
            sleep_ns(poll_ns);
        }
    }
    void start_others() const {
        for (std::size_t i = 0; i < others_; i++) {
            (void)!::write(start_[1], "g", 1);
        }
    }
    void wait_for_first() const {
        char byte = 0;
        while (::read(start_[0], &byte, 1) < 0 && errno == EINTR) {}
    }

private:
    using Counter = std::atomic<std::size_t>;
    Counter* holding_ = nullptr;
    int start_[2] = {-1, -1};  // NOLINT(*-avoid-c-arrays): what pipe2() wants
    std::size_t others_ = 0;
};

[[noreturn]] void work(const Options& options, Hoard& hoard) {
    switch (options.kind) {
        case Kind::grow:
            if (options.rate == 0) {
                hoard.grow_at_once();
            } else {
                hoard.grow(options.rate * mib / options.processes, options.steady);
            }
            break;
        case Kind::cache:
            fill_page_cache(options.directory, options.files_mib * mib);
        case Kind::reread:
            reread(options.directory, options.files_mib * mib);
        case Kind::connect:
            connect_and_grow(hoard, options.rate, options.up_to * mib);
        case Kind::sockets:
            open_and_close_sockets();
        case Kind::hold:
        case Kind::bomb:
            break;
    }
    if (!options.write.empty()) {
        append_forever(options.write);
    }
    rest();
}

[[noreturn]] void hold_and_work(const Options& options) {
    Crew crew;
    const bool first = crew.assemble(options.processes, options.together);
    const std::size_t hold = options.hold * mib / options.processes;
    const bool grows = options.kind == Kind::grow || options.kind == Kind::connect;
    Hoard hoard(grows ? std::max(hold, options.up_to * mib / options.processes) : hold, options.shared);
    hoard.grow_to(hold);
    crew.holds();
    if (first) {
        crew.wait_for_all();
        say(said_ready);
    }
    if (options.kind != Kind::hold) {
        if (first) {
            wait_for_start(options.after);
            crew.start_others();
            say(said_begun);
        } else {
            crew.wait_for_first();
        }
    }
    work(options, hoard);
}

// Every process forks and exits, and its child does the same: a list of the processes is a list of dead ones.
[[noreturn]] void fork_forever(const Options& options) {
    if (!processes_are_bounded(options)) {
        die("bomb: none of the cgroups has a pids.max");
    }
    say(said_ready);
    wait_for_start(options.after);
    say(said_begun);
    for (std::size_t i = 1; i < options.processes && ::fork() != 0; i++) {}
    for (;;) {
        const pid_t child = ::fork();
        if (child > 0) {
            ::_exit(0);
        }
        if (child < 0) {
            sleep_ns(poll_ns);
        }
    }
}

}  // namespace

void rest() {
    for (;;) {
        (void)::pause();
    }
}

void run(const std::string& program, const std::vector<std::string>& words) {
    set_name(program);
    if (words.size() == 1 && words[0] == "--help") {
        (void)std::fputs(usage(program).c_str(), stdout);
        std::exit(0);  // NOLINT(concurrency-mt-unsafe): there is one thread
    }
    const auto options = parse(words);
    if (!options) {
        die(options.error() + " (see " + program + " --help)");
    }
    for (const auto& group : options->groups) {
        enter(group);
    }
    (void)std::signal(SIGCHLD, SIG_IGN);  // a killed one of several processes leaves no zombie
    if (options->first_served) {
        (void)::setpriority(PRIO_PROCESS, 0, -20);
    }
    if (options->term_ms >= 0) {
        shutdown_ms = options->term_ms;
        (void)std::signal(SIGTERM, on_terminate);
    }
    if (options->kind == Kind::bomb) {
        fork_forever(*options);
    }
    hold_and_work(*options);
}

}  // namespace evictd::load

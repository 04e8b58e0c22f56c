// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/pod_process.hpp"

#include <algorithm>
#include <csignal>
#include <sstream>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "demo/pod_memory.hpp"
#include "demo/pod_work.hpp"
#include "sys/file.hpp"

namespace evictd::demo {
namespace {

constexpr std::size_t proc_limit = 65536;
// A signal that comes just before poll() does not end it: this much later it is seen.
constexpr int process_idle_ms = 50;

// What the first process says to the others: a pipe for its orders, one for their answers.
struct Crew {
    int orders[2] = {-1, -1};   // NOLINT(*-avoid-c-arrays): what pipe2() wants
    int answers[2] = {-1, -1};  // NOLINT(*-avoid-c-arrays)
    int members = 0;
};

// One of the others: holds its share, grows when it is told to, and stays until the first one ends.
[[noreturn]] void serve(const Crew& crew, std::size_t hold, std::size_t most) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    char word = 0;
    Hoard hoard(most);
    hoard.grow_to(hold);
    (void)!::write(crew.answers[1], &said_holding, 1);
    if (::read(crew.orders[0], &word, 1) == 1) {
        hoard.grow_to(most);
    }
    while (true) {
        ::pause();
    }
}

// The others, forked inside the cgroup; back when all of them hold their share. False: somebody could not be started.
bool assemble(Crew& crew, int processes, std::size_t hold, std::size_t most) {
    if (processes > 1 && (::pipe2(crew.orders, O_CLOEXEC) != 0 || ::pipe2(crew.answers, O_CLOEXEC) != 0)) {
        return false;
    }
    for (; crew.members < processes - 1; crew.members++) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            serve(crew, hold, most);
        }
        if (pid < 0) {
            return false;
        }
    }
    char word = 0;
    for (int i = 0; i < crew.members; i++) {
        if (::read(crew.answers[0], &word, 1) != 1) {
            return false;
        }
    }
    return true;
}

void order_all(const Crew& crew) {
    for (int i = 0; i < crew.members; i++) {
        (void)!::write(crew.orders[1], &order_act, 1);
    }
}

void prepare(bool shuts_down) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);  // whatever ends the demo ends its pods
    if (shuts_down) {
        catch_terminate();
    }
}

}  // namespace

bool is_inside(const std::string& proc_cgroup, const std::string& path) {
    std::istringstream lines(proc_cgroup);
    std::string line;
    std::string unified;
    while (std::getline(lines, line)) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) {
            continue;
        }
        const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
        if (controllers.find(",memory,") != std::string::npos) {
            return line.substr(second + 1) == path;
        }
        if (line.starts_with("0::")) {
            unified = line.substr(second + 1);
        }
    }
    return unified == path;
}

int run_pod_process(const PodProcessOptions& options) {
    prepare(options.shutdown_ms > 0);
    say(said_started);
    if (!wait_for(order_hold)) {
        return 0;
    }
    const auto where = sys::read_file("/proc/self/cgroup", proc_limit);
    if (!where || !is_inside(*where, options.cgroup)) {
        say(said_outside);
        return 1;
    }
    const auto share = static_cast<std::size_t>(std::max(1, options.processes));
    const auto hold = static_cast<std::size_t>(options.hold_mib) * mib / share;
    const auto most = std::max(hold, static_cast<std::size_t>(options.grow_to_mib) * mib / share);
    Crew crew;
    if (!assemble(crew, options.processes, hold, most)) {
        return 1;
    }
    Hoard hoard(most);
    hoard.grow_to(hold);
    say(said_holding);
    if (!wait_for(order_act)) {
        return 0;
    }
    order_all(crew);
    work(options, hoard, most);
    while (!ended_within(process_idle_ms)) {}
    if (asked_to_end()) {
        say(said_asked);
        (void)::poll(nullptr, 0, static_cast<int>(options.shutdown_ms));
    }
    return 0;
}

}  // namespace evictd::demo

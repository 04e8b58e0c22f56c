// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// usage: evictd_node_bench EVICTD DIRECTORY [--quick | --turn] [PART...]     all parts but latency-10, or those named;
//        evictd_node_bench agent PID BPFFS     what a running agent costs at rest, for 7 minutes. root only.
// --turn: sizes for one of many turns, of which each counts. Figures are added to DIRECTORY/figures.tsv.
// Exit: 0 all targets met, 1 one was missed, 2 it could not be measured.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parts.hpp"
#include "pod_tree.hpp"

namespace evictd::bench {
namespace {

// Two files a cgroup stay open for the comparison with pread.
void raise_file_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

// For where.md; its figures have no targets.
constexpr const char* only_by_name = "latency-10";

using Part = std::pair<std::string, std::function<Status(const Place&, Report&)>>;

struct Sizes {
    bool quick = false;
    int evictions = 200;
    int fewer = 50;  // where one takes long
    int rounds = 200;
    int idle_seconds = 60;
    int blocks = 40;
};

constexpr Sizes quick_sizes{.quick = true, .evictions = 10, .fewer = 5, .rounds = 20, .idle_seconds = 5, .blocks = 2};
constexpr Sizes turn_sizes{.quick = true, .evictions = 20, .fewer = 10, .rounds = 20, .idle_seconds = 11, .blocks = 2};

std::vector<Part> parts(const Sizes& sizes) {
    const int evictions = sizes.evictions;
    const int fewer = sizes.fewer;
    const auto count = [](int n) { return " (" + std::to_string(n) + " evictions)"; };
    const auto latency = [](const LatencyRun& run) {
        return [run](const Place& place, Report& report) { return measure_latency(run, place, report); };
    };
    return {
        {"baseline",
         [sizes](const Place& /*place*/, Report& report) {
             return measure_baseline({.rounds = sizes.rounds, .watched = std::chrono::seconds(sizes.quick ? 2 : 20)},
                                     report);
         }},
        {"latency-10",
         latency({.title = "10 pods, a hog at full speed" + count(evictions), .pods = 10, .evictions = evictions})},
        {"latency-110", latency({.title = "110 pods, a hog at full speed" + count(evictions),
                                 .evictions = evictions,
                                 .median_target = 400,
                                 .p99_target = 1500})},
        {"latency-1000", latency({.title = "1,000 pods, a hog at full speed" + count(evictions),
                                  .pods = 1000,
                                  .evictions = evictions,
                                  .median_target = 1500,
                                  .p99_target = 5000})},
        {"latency-slow", latency({.title = "110 pods, a hog at 100 MB/s" + count(fewer),
                                  .evictions = fewer,
                                  .growth = Growth::slow,
                                  .median_target = 1000,
                                  .p99_target = 5000})},
        {"latency-busy",
         latency({.title = "110 pods, a hog at full speed, every CPU busy with an endless loop" + count(evictions / 2),
                  .evictions = evictions / 2,
                  .busy = true,
                  .median_target = 500,
                  .p99_target = 1500})},
        {"usage", [sizes](const Place& place, Report& report) { return measure_usage(sizes.rounds, place, report); }},
        {"idle",
         [sizes](const Place& place, Report& report) { return measure_idle(sizes.idle_seconds, place, report); }},
        {"scale", [sizes](const Place& place, Report& report) { return measure_scale(sizes.quick, place, report); }},
        {"cost", [sizes](const Place& place, Report& report) { return measure_cost(sizes.blocks, place, report); }},
    };
}

bool has(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// A part that cannot be measured is reported, and does not keep the others from being measured.
int measure(const std::vector<Part>& chosen, const Place& place) {
    Report report(place.directory + "/figures.tsv");
    for (const auto& [name, measure_part] : chosen) {
        report.begin(name);
        if (const auto measured = measure_part(place, report); !measured) {
            std::fprintf(stderr, "evictd_node_bench: %s: %s\n", name.c_str(), measured.error().text().c_str());
            report.unmeasured(name, measured.error().text());
        }
    }
    if (report.unmeasured() > 0) {
        return 2;
    }
    return report.missed() == 0 ? 0 : 1;
}

// Beside an API server and a runtime it may have this much resident memory.
constexpr std::int64_t most_connected_rss = 24 * 1024;  // KiB

int watch_agent(pid_t pid, const std::string& bpffs) {
    Report report("/dev/null");
    constexpr int seconds = 420;  // what comes every 5 minutes is in it
    report.heading("Idle for " + std::to_string(seconds) + " s");
    measure_idle_agent(seconds, pid, bpffs, most_connected_rss, report);
    return report.unmeasured() > 0 ? 2 : report.missed() == 0 ? 0 : 1;
}

int run(const std::vector<std::string>& words) {
    if (words.size() == 3 && words[0] == "agent") {
        return watch_agent(std::stoi(words[1]), words[2]);
    }
    if (words.size() < 2) {
        std::fprintf(stderr,
                     "usage: evictd_node_bench EVICTD DIRECTORY [--quick | --turn] [PART...]\n"
                     "       evictd_node_bench agent PID BPFFS    what a running agent costs at rest, for 7 minutes\n");
        return 2;
    }
    std::vector<std::string> wanted(words.begin() + 2, words.end());
    Sizes sizes = has(wanted, "--quick") ? quick_sizes : Sizes{};
    sizes = has(wanted, "--turn") ? turn_sizes : sizes;
    std::erase_if(wanted, [](const std::string& word) { return word == "--quick" || word == "--turn"; });
    auto chosen = parts(sizes);
    for (const auto& word : wanted) {
        if (std::none_of(chosen.begin(), chosen.end(), [&](const Part& part) { return part.first == word; })) {
            std::fprintf(stderr, "evictd_node_bench: there is no part '%s'\n", word.c_str());
            return 2;
        }
    }
    std::erase_if(chosen, [&](const Part& part) {
        return wanted.empty() ? part.first == only_by_name : !has(wanted, part.first);
    });
    return measure(chosen, {words[0], words[1]});
}

// Who measures; all that is to happen here while it does is to hand on a signal.
volatile sig_atomic_t measuring = 0;

void hand_on(int number) { (void)kill(measuring, number); }

// In a process of its own, so that its pods are removed however it ends.
int run_apart(const std::vector<std::string>& words) {
    (void)PodTree::remove_leftovers();
    measuring = fork();
    if (measuring == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        raise_file_limit();
        return run(words);
    }
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        (void)std::signal(number, hand_on);
    }
    int status = 0;
    while (waitpid(measuring, &status, 0) < 0 && errno == EINTR) {}
    (void)PodTree::remove_leftovers();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

}  // namespace
}  // namespace evictd::bench

int main(int argc, char** argv) { return evictd::bench::run_apart({argv + 1, argv + argc}); }

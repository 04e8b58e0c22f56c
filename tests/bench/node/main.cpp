// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// usage: evictd_node_bench EVICTD DIRECTORY [--quick] [PART...]     all parts, or those named; root only
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

using Part = std::pair<std::string, std::function<Status(const Place&, Report&)>>;

std::vector<Part> parts(bool quick) {
    const int evictions = quick ? 10 : 200;
    const int fewer = quick ? 5 : 50;
    const auto count = [](int n) { return " (" + std::to_string(n) + " evictions)"; };
    const auto latency = [](LatencyRun run) {
        return [run](const Place& place, Report& report) { return measure_latency(run, place, report); };
    };
    return {
        {"latency-110", latency({.title = "110 pods, a hog at full speed" + count(evictions),
                                 .evictions = evictions,
                                 .median_target = 1000,
                                 .p99_target = 5000})},
        {"latency-1000", latency({.title = "1,000 pods, a hog at full speed" + count(evictions),
                                  .pods = 1000,
                                  .evictions = evictions,
                                  .p99_target = 10000})},
        {"latency-slow", latency({.title = "110 pods, a hog at 100 MB/s" + count(fewer),
                                  .evictions = fewer,
                                  .growth = Growth::slow,
                                  .median_target = 1000,
                                  .p99_target = 5000})},
        {"latency-busy",
         latency({.title = "110 pods, a hog at full speed, every CPU busy with an endless loop" + count(fewer),
                  .evictions = fewer,
                  .busy = true})},
        {"usage",
         [quick](const Place& place, Report& report) { return measure_usage(quick ? 20 : 200, place, report); }},
        {"idle", [quick](const Place& place, Report& report) { return measure_idle(quick ? 5 : 60, place, report); }},
        {"scale", [quick](const Place& place, Report& report) { return measure_scale(quick, place, report); }},
        {"cost", [quick](const Place& place, Report& report) { return measure_cost(quick ? 2 : 40, place, report); }},
    };
}

int run(const std::vector<std::string>& words) {
    if (words.size() < 2) {
        std::fprintf(stderr, "usage: evictd_node_bench EVICTD DIRECTORY [--quick] [PART...]\n");
        return 2;
    }
    const Place place{words[0], words[1]};
    const std::vector<std::string> wanted(words.begin() + 2, words.end());
    const auto named = [&](const std::string& word) {
        return std::find(wanted.begin(), wanted.end(), word) != wanted.end();
    };
    const bool quick = named("--quick");
    const bool all = wanted.empty() || (wanted.size() == 1 && quick);
    const auto known = parts(quick);
    for (const auto& word : wanted) {
        if (word != "--quick" &&
            std::none_of(known.begin(), known.end(), [&](auto& part) { return part.first == word; })) {
            std::fprintf(stderr, "evictd_node_bench: there is no part '%s'\n", word.c_str());
            return 2;
        }
    }
    Report report;
    for (const auto& [name, measure] : known) {
        if (!all && !named(name)) {
            continue;
        }
        if (const auto measured = measure(place, report); !measured) {
            std::fprintf(stderr, "evictd_node_bench: %s: %s\n", name.c_str(), measured.error().text().c_str());
            return 2;
        }
    }
    return report.missed() == 0 ? 0 : 1;
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

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The agent's own measurement of each eviction, taken from its events: a person reading them sees the same numbers.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent_process.hpp"
#include "eviction.hpp"
#include "parts.hpp"
#include "pod_tree.hpp"

namespace evictd::bench {
namespace {

// Endless loops of normal priority, one a CPU, until it goes.
class BusyLoops {
public:
    explicit BusyLoops(bool wanted) {
        for (unsigned i = 0; wanted && i < std::thread::hardware_concurrency(); i++) {
            const pid_t pid = fork();
            if (pid == 0) {
                (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (std::atomic<unsigned> spin = 0;;) {
                    spin++;
                }
            }
            pids_.push_back(pid);
        }
    }
    BusyLoops(const BusyLoops&) = delete;
    BusyLoops& operator=(const BusyLoops&) = delete;
    ~BusyLoops() {
        for (const pid_t pid : pids_) {
            (void)kill(pid, SIGKILL);
            (void)waitpid(pid, nullptr, 0);
        }
    }

private:
    std::vector<pid_t> pids_;
};

void write_raw(const std::string& file, const Tally& tally) {
    std::ofstream out(file);
    for (const char* name : latency_parts) {
        out << name << "_us";
        if (const auto samples = tally.parts.find(name); samples != tally.parts.end()) {
            for (const double sample : samples->second) {
                out << ',' << sample;
            }
        }
        out << '\n';
    }
}

void tell(const LatencyRun& run, const Tally& tally, int dead, Report& report) {
    report.spread_heading();
    Spread total;
    for (const char* name : latency_parts) {
        const auto found = tally.parts.find(name);
        const auto samples = found == tally.parts.end() ? std::vector<double>{} : found->second;
        if (samples.empty()) {
            report.unmeasured(name, "no eviction was measured by the agent");
            continue;
        }
        const auto spread = report.spread(name, samples);
        total = std::string(name) == "total" ? spread : total;
    }
    const auto at_most = [](double us) { return "<= " + say_microseconds(us); };
    const bool measured = total.max > 0;
    if (measured && run.median_target > 0) {
        report.judged("crossing seen to SIGKILL delivered, median", say_microseconds(total.median),
                      at_most(run.median_target), total.median <= run.median_target);
    }
    if (measured && run.p99_target > 0) {
        report.judged("crossing seen to SIGKILL delivered, p99", say_microseconds(total.p99), at_most(run.p99_target),
                      total.p99 <= run.p99_target);
    }
    const auto of_all = std::to_string(tally.right) + " of " + std::to_string(run.evictions);
    const bool clean = tally.right == run.evictions && tally.wrong + tally.oom_kills + dead == 0;
    report.judged("the hog was evicted and nobody else died", of_all, "all", clean);
    report.figure("the hog was evicted, of " + std::to_string(run.evictions), "runs",
                  {static_cast<double>(tally.right)});
    report.figure("kernel OOM kills", "runs", {static_cast<double>(tally.oom_kills)});
    report.judged("kernel OOM kills", std::to_string(tally.oom_kills), "0", tally.oom_kills == 0);
    if (tally.unmeasured > 0) {
        report.told("evictions not caused by a kernel event", std::to_string(tally.unmeasured));
    }
}

}  // namespace

Status measure_latency(const LatencyRun& run, const Place& place, Report& report) {
    report.heading(run.title);
    const std::string directory = place.directory + "/agent";
    auto tree = PodTree::make(directory);
    if (!tree) {
        return tl::unexpected(tree.error());
    }
    auto ready = populate(**tree, run.pods - 2, run.pods);  // the hog and the quiet one make it whole
    if (!ready || !(ready = add_quiet_pod(**tree))) {
        return ready;
    }
    (void)sleep(1);  // until all have touched their memory
    if (ready = (*tree)->set_limit((*tree)->usage() + room_to_grow + eviction_threshold); !ready) {
        return ready;
    }
    auto agent = AgentProcess::start(place.evictd, **tree, directory, eviction_threshold);
    if (!agent) {
        return tl::unexpected(agent.error());
    }
    const BusyLoops busy(run.busy);
    Tally tally;
    for (int i = 0; i < run.evictions; i++) {
        if (auto done = evict_one(**tree, **agent, i, run.growth, tally); !done) {
            return done;
        }
    }
    std::string file = place.directory + "/latency-" + std::to_string(run.pods);
    file += run.growth == Growth::slow ? "-slow" : "";
    write_raw(file + (run.busy ? "-busy.csv" : ".csv"), tally);
    tell(run, tally, (*tree)->dead_sleepers(), report);
    return {};
}

}  // namespace evictd::bench

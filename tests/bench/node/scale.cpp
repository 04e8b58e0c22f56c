// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How the agent grows with the node: one tree of pods that grows from step to step, every measure taken at each. All
// pods have two cgroups in each hierarchy; all but the first ten are empty, for 10,000 processes would measure the
// machine.
#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>

#include "agent_process.hpp"
#include "eviction.hpp"
#include "idle.hpp"
#include "iterator.hpp"
#include "kube/manifest_directory.hpp"
#include "observe/observer.hpp"
#include "parts.hpp"
#include "pod_tree.hpp"
#include "policy/decide.hpp"

namespace evictd::bench {
namespace {

constexpr int with_process = 10;
// Reading 10,000 manifests with half a core left over.
constexpr Duration known_within = std::chrono::seconds(60);
constexpr Bytes room_for_cgroups = 4_GiB;

struct Rounds {
    std::vector<int> steps{10, 100, 1000, 10'000};
    int starts = 3;
    int passes = 50;
    int evictions = 10;
    int idle_seconds = 10;  // holds one look, which comes every 10 s
};

using Samples = std::vector<double>;

// In microseconds, but for what says otherwise.
struct Step {
    int pods = 0;
    std::size_t cgroups = 0;
    Samples start;     // exec to "AgentStarted"
    Samples known;     // exec to the first look that had every pod
    Samples snapshot;  // one pass of the iterator
    Samples look;      // with it, everything a decision may depend on
    Samples decision;
    Samples kill;     // the kernel saw the crossing -> SIGKILL delivered
    Samples detect;   // of it: until the agent had it in hand
    Samples in_look;  // of it: look and decision, with what they read in no cache any more
    double status = 0;
    double idle_ppm = 0;
    std::int64_t rss_kib = 0;
    std::int64_t rss_after_kib = 0;  // after evictions and a status of everything
};

double median(const Samples& samples) { return spread_of(samples).median; }

class Stopwatch {
public:
    [[nodiscard]] double microseconds() const {
        return std::chrono::duration<double, std::micro>(clock_.monotonic() - begin_).count();
    }

private:
    sys::SystemClock clock_;
    MonotonicTime begin_ = clock_.monotonic();
};

double thread_cpu_us() {
    timespec time{};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

// In CPU time: nothing here waits but for others on the machine, for whom the agent's real-time thread does not wait.
template <class Work>
Samples repeat(int times, Work&& work) {
    Samples samples;
    for (int i = 0; i < times; i++) {
        const double begin = thread_cpu_us();
        work();
        samples.push_back(thread_cpu_us() - begin);
    }
    return samples;
}

// The parts of a look with nothing around them, in this process. The threshold is beyond any memory, so it is met.
Status think(const PodTree& tree, const Rounds& rounds, Step& step) {
    const sys::SystemClock clock;
    auto sources = open_iterator(tree, clock);
    if (!sources) {
        return tl::unexpected(sources.error());
    }
    kube::ManifestDirectory manifests(tree.manifests(), std::nullopt);
    auto found = sources->cgroups->list_pods();
    if (!found) {
        return tl::unexpected(found.error());
    }
    observe::PodTable table;
    table.set_pods(0, manifests.look({}).pods);
    table.set_cgroups(std::move(*found), clock.monotonic());
    std::vector<port::CgroupUsage> rows;
    Status read;
    step.snapshot =
        repeat(rounds.passes, [&] { read = read ? sources->usage->read(rows, port::Pass::all_rows) : read; });
    step.cgroups = rows.size();
    observe::Observer observer(*sources->usage, *sources->node, clock);
    Observation observation;
    step.look = repeat(rounds.passes, [&] { observation = observer.look({}, table, {}, {}); });
    const EvictionConfig config{
        .thresholds = {{Signal::allocatable_memory_available, {Quantity::of(std::int64_t{1} << 60)}, {}, {}}}};
    std::size_t ranked = 0;
    step.decision =
        repeat(rounds.passes, [&] { ranked = policy::decide(config, observation, State{}).decision.ranking.size(); });
    const bool whole = ranked == static_cast<std::size_t>(step.pods);
    return whole || !read ? read : fail(ErrorKind::failed, "decision", "ranked " + std::to_string(ranked) + " pods");
}

struct Scene {
    const Place& place;
    const Rounds& rounds;
    std::string directory;
    PodTree& tree;
    std::uint64_t last_pod;  // its cgroup
};

Result<std::unique_ptr<AgentProcess>> start(const Scene& scene, Step& step) {
    std::unique_ptr<AgentProcess> agent;
    for (int i = 0; i < scene.rounds.starts; i++) {
        agent.reset();
        const Stopwatch watch;
        auto made = AgentProcess::start(scene.place.evictd, scene.tree, scene.directory, eviction_threshold);
        if (!made) {
            return made;
        }
        step.start.push_back(watch.microseconds());
        if (auto seen = (*made)->wait_for_pod(scene.last_pod, known_within); !seen) {
            return tl::unexpected(seen.error());
        }
        step.known.push_back(watch.microseconds());
        agent = std::move(*made);
    }
    return agent;
}

Status use(const Scene& scene, AgentProcess& agent, Tally& tally, Step& step) {
    (void)sleep(2);  // starting is not idling
    step.idle_ppm = 1e6 * watch_idle(scene.rounds.idle_seconds, agent.pid(), agent.bpffs()).all();
    step.rss_kib = status_kib(agent.pid(), "VmRSS");
    for (int i = 0; i < scene.rounds.evictions; i++) {
        if (auto done = evict_one(scene.tree, agent, i, Growth::full_speed, tally); !done) {
            return done;
        }
    }
    step.kill = tally.parts["total"];
    step.detect = tally.parts["detect"];
    step.in_look = tally.parts["decide"];
    const Stopwatch watch;
    if (auto answer = agent.status(); !answer) {
        return tl::unexpected(answer.error());
    }
    step.status = watch.microseconds();
    step.rss_after_kib = status_kib(agent.pid(), "VmRSS");
    return {};
}

void tell(const Step& step, const Tally& tally, const Rounds& rounds, Report& report) {
    std::array<char, 192> text{};
    (void)std::snprintf(text.data(), text.size(), "%6d %7zu %9s %9s %9s %9s %9s %9s %9s %6lld KiB %8.4f %%", step.pods,
                        step.cgroups, say_microseconds(median(step.start)).c_str(),
                        say_microseconds(median(step.known)).c_str(), say_microseconds(median(step.snapshot)).c_str(),
                        say_microseconds(median(step.look)).c_str(), say_microseconds(median(step.decision)).c_str(),
                        say_microseconds(median(step.kill)).c_str(), say_microseconds(step.status).c_str(),
                        static_cast<long long>(step.rss_kib), step.idle_ppm / 1e4);
    report.line(text.data());
    if (tally.right != rounds.evictions || tally.wrong + tally.oom_kills > 0) {
        report.judged("with " + std::to_string(step.pods) + " pods the hog was evicted, and only it",
                      std::to_string(tally.right) + " of " + std::to_string(rounds.evictions), "all", false);
    }
}

void record(const Step& step, Report& report) {
    const std::string at = std::to_string(step.pods) + " pods: ";
    report.figure(at + "exec to AgentStarted", "us", step.start);
    report.figure(at + "exec to all pods known", "us", step.known);
    report.figure(at + "snapshot of usage, CPU time", "us", step.snapshot);
    report.figure(at + "whole look, CPU time", "us", step.look);
    report.figure(at + "decision, CPU time", "us", step.decision);
    report.figure(at + "crossing to SIGKILL", "us", step.kill);
    report.figure(at + "of it detecting", "us", step.detect);
    report.figure(at + "of it looking and deciding", "us", step.in_look);
    report.figure(at + "status answered", "us", {step.status});
    report.figure(at + "idle CPU", "%", {step.idle_ppm / 1e4});
    report.figure(at + "VmRSS idle", "KiB", {static_cast<double>(step.rss_kib)});
    report.figure(at + "VmRSS at most", "KiB", {static_cast<double>(step.rss_after_kib)});
}

void write_raw(std::ofstream& raw, const Step& step) {
    raw << step.pods << ',' << step.cgroups << ',' << median(step.start) << ',' << median(step.known) << ','
        << median(step.snapshot) << ',' << median(step.look) << ',' << median(step.decision) << ',' << median(step.kill)
        << ',' << spread_of(step.kill).max << ',' << median(step.detect) << ',' << median(step.in_look) << ','
        << step.status << ',' << step.idle_ppm << ',' << step.rss_kib << ',' << step.rss_after_kib << std::endl;
}

// Pods that come while the agent runs, faster than any kubelet starts them.
Status add_beside(const Scene& scene, int more, int from, Report& report) {
    // Cgroups take kernel memory that is charged to their parent: with the limit of before they would be pressure.
    if (auto lifted = scene.tree.set_limit(scene.tree.usage() + room_for_cgroups); !lifted) {
        return lifted;
    }
    auto agent = AgentProcess::start(scene.place.evictd, scene.tree, scene.directory, eviction_threshold);
    if (!agent) {
        return tl::unexpected(agent.error());
    }
    const Stopwatch making;
    if (auto made = populate(scene.tree, more - 1, 0, from); !made) {
        return made;
    }
    const auto last = scene.tree.add("pod-" + std::to_string(from + more - 1), "1Mi");
    if (!last) {
        return tl::unexpected(last.error());
    }
    const double made_in = making.microseconds();
    const Stopwatch watch;
    if (auto seen = (*agent)->wait_for_pod(scene.tree.id(*last), known_within); !seen) {
        return seen;
    }
    report.told(
        std::to_string(more) + " pods more, made beside it in " + say_microseconds(made_in) + ": all known after",
        say_microseconds(watch.microseconds()));
    return {};
}

Status measure(const Scene& scene, Step& step, std::ofstream& raw, Report& report) {
    if (auto thought = think(scene.tree, scene.rounds, step); !thought) {
        return thought;
    }
    if (auto limited = scene.tree.set_limit(scene.tree.usage() + room_to_grow + eviction_threshold); !limited) {
        return limited;
    }
    auto agent = start(scene, step);
    if (!agent) {
        return tl::unexpected(agent.error());
    }
    Tally tally;
    if (auto used = use(scene, **agent, tally, step); !used) {
        return used;
    }
    write_raw(raw, step);
    record(step, report);
    tell(step, tally, scene.rounds, report);
    return {};
}

}  // namespace

Status measure_scale(bool quick, const Place& place, Report& report) {
    report.heading("Scale: from 10 pods to 10,000, each with a container's cgroup (medians)");
    const Rounds rounds = quick ? Rounds{{10, 100}, 1, 5, 2, 1} : Rounds{};
    const std::string directory = place.directory + "/agent";
    auto tree = PodTree::make(directory);
    if (!tree) {
        return tl::unexpected(tree.error());
    }
    std::ofstream raw(place.directory + "/scale.csv");
    raw << "pods,cgroups,start_us,known_us,snapshot_us,look_us,decision_us,kill_us,kill_max_us,detect_us,in_look_us,"
           "status_us,idle_ppm,"
           "rss_kib,rss_after_kib\n";
    report.line(
        "  pods cgroups     start     known  snapshot      look    decide      kill    status      VmRSS    idle CPU");
    Scene scene{place, rounds, directory, **tree, 0};
    int pods = 0;
    for (const int wanted : rounds.steps) {
        Status grown;
        const bool beside = pods > 0 && wanted == rounds.steps.back();
        grown = beside ? add_beside(scene, wanted - pods - 1, pods, report)
                       : populate(**tree, wanted - pods - 1, pods == 0 ? with_process : 0, pods);
        const auto last = grown ? (*tree)->add("pod-" + std::to_string(wanted - 1), "1Mi")
                                : Result<BenchPod>(tl::unexpected(grown.error()));
        if (!last) {
            return tl::unexpected(last.error());
        }
        scene.last_pod = (*tree)->id(*last);
        pods = wanted;
        Step step{.pods = pods};
        if (auto measured = measure(scene, step, raw, report); !measured) {
            return measured;
        }
    }
    return {};
}

}  // namespace evictd::bench

// SPDX-License-Identifier: Apache-2.0
// The agent's own measurement of each eviction, taken from its events: a person reading them sees the same numbers.
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent_process.hpp"
#include "parts.hpp"
#include "pod_tree.hpp"

namespace evictd::bench {
namespace {

// A hog grows this far before it crosses, and has the threshold's size left before the kernel's OOM killer: 16 ms at
// the 8 GiB/s of a CPU that zeroes huge pages.
constexpr Bytes room_to_grow = 128_MiB;
constexpr Bytes threshold = 128_MiB;
// Bigger than any hog, and within its request: whoever kills by size kills this one.
constexpr std::size_t quiet_size = std::size_t{192} << 20U;
// A line counts as crossed back only after 100 ms (SETTLE_NS in bpf/watermark.bpf.c). A hog that crosses again within
// them makes no new edge.
constexpr std::chrono::milliseconds settle{150};
constexpr Duration longest_wait = std::chrono::seconds(20);

const std::array<const char*, 5> part_names{"detect", "decide", "act", "total", "empty"};

void sleep_for(std::chrono::nanoseconds time) {
    const timespec span{time.count() / 1'000'000'000, time.count() % 1'000'000'000};
    (void)nanosleep(&span, nullptr);
}

// Slow: the first part at full speed as well, or a run would take minutes.
void grow(Growth growth) {
    constexpr std::size_t most = std::size_t{1} << 30U;
    constexpr std::size_t page = 4096;
    constexpr std::size_t fast_part = std::size_t{104} << 20U;
    constexpr std::size_t each_ms = 100 * 1000;
    void* mapped = mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
        _exit(5);
    }
    (void)madvise(mapped, most, growth == Growth::full_speed ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    auto* memory = static_cast<volatile char*>(mapped);
    for (std::size_t at = 0; at < most; at += page) {
        memory[at] = 1;
        if (growth == Growth::slow && at > fast_part && at % each_ms < page) {
            sleep_for(std::chrono::milliseconds(1));
        }
    }
    for (;;) {
        (void)pause();
    }
}

Status add_quiet_pod(PodTree& tree) {
    auto pod = tree.add("quiet", "256Mi");
    if (!pod) {
        return tl::unexpected(pod.error());
    }
    auto started = tree.start_sleeper(*pod, quiet_size);
    return started ? Status{} : tl::unexpected<Error>(started.error());
}

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

struct Tally {
    std::map<std::string, std::vector<double>> parts;  // us
    int right = 0;
    int wrong = 0;
    int unmeasured = 0;  // seen by a look of its own, not by an event
    int oom_kills = 0;
};

void note(const codec::EventLatency& latency, Tally& tally) {
    const std::array<std::optional<Duration>, 5> values{latency.detect, latency.decide, latency.act, latency.total,
                                                        latency.empty};
    for (std::size_t i = 0; i < values.size(); i++) {
        if (values[i]) {
            tally.parts[part_names[i]].push_back(std::chrono::duration<double, std::micro>(*values[i]).count());
        }
    }
    tally.unmeasured += latency.total ? 0 : 1;
}

// Reads events until the hog is gone and the threshold is no longer met.
Status watch_eviction(AgentProcess& agent, const BenchPod& hog, Tally& tally) {
    bool evicted = false;
    bool met = true;
    while (!evicted || met) {
        const auto event = agent.next_event(longest_wait);
        if (!event) {
            return fail(ErrorKind::failed, hog.name, evicted ? "the threshold stays met" : "was not evicted in 20 s");
        }
        if (event->reason == "EvictionThresholdCleared" && evicted) {
            met = false;
        } else if (event->reason == "Evicted" || event->reason == "EvictionFailed") {
            const bool right = event->reason == "Evicted" && event->pod && event->pod->uid == hog.uid;
            (right ? tally.right : tally.wrong)++;
            evicted = true;
            note(event->latency, tally);
        } else if (event->reason == "EvictionThresholdMet") {
            met = true;
        }
    }
    return {};
}

Status evict_one(PodTree& tree, AgentProcess& agent, int number, Growth growth, Tally& tally) {
    const auto hog = tree.add("hog-" + std::to_string(number), "0");
    if (!hog) {
        return tl::unexpected(hog.error());
    }
    if (auto known = agent.wait_for_pod(hog->uid); !known) {
        return known;
    }
    const auto process = tree.start(*hog, [growth] { grow(growth); });
    if (!process) {
        return tl::unexpected(process.error());
    }
    auto seen = watch_eviction(agent, *hog, tally);
    (void)kill(*process, SIGKILL);
    (void)waitpid(*process, nullptr, 0);
    tally.oom_kills += tree.oom_kills(*hog);
    tree.remove(*hog);
    sleep_for(settle);
    return seen;
}

void write_raw(const std::string& file, const Tally& tally) {
    std::ofstream out(file);
    for (const char* name : part_names) {
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
    std::array<char, 128> text{};
    (void)std::snprintf(text.data(), text.size(), "%-8s %10s %10s %10s %10s %10s", "", "min", "median", "p90", "p99",
                        "max");
    report.line(text.data());
    Spread total;
    for (const char* name : part_names) {
        const auto samples = tally.parts.find(name);
        const auto spread = spread_of(samples == tally.parts.end() ? std::vector<double>{} : samples->second);
        (void)std::snprintf(text.data(), text.size(), "%-8s %10s %10s %10s %10s %10s", name,
                            say_microseconds(spread.min).c_str(), say_microseconds(spread.median).c_str(),
                            say_microseconds(spread.p90).c_str(), say_microseconds(spread.p99).c_str(),
                            say_microseconds(spread.max).c_str());
        report.line(text.data());
        total = std::string(name) == "total" ? spread : total;
    }
    const auto at_most = [](double us) { return "<= " + say_microseconds(us); };
    if (run.median_target > 0) {
        report.judged("crossing seen to SIGKILL delivered, median", say_microseconds(total.median),
                      at_most(run.median_target), total.median <= run.median_target);
    }
    if (run.p99_target > 0) {
        report.judged("crossing seen to SIGKILL delivered, p99", say_microseconds(total.p99), at_most(run.p99_target),
                      total.p99 <= run.p99_target);
    }
    const auto of_all = std::to_string(tally.right) + " of " + std::to_string(run.evictions);
    const bool clean = tally.right == run.evictions && tally.wrong + tally.oom_kills + dead == 0;
    report.judged("the hog was evicted and nobody else died", of_all, "all", clean);
    report.judged("kernel OOM kills", std::to_string(tally.oom_kills), "0", tally.oom_kills == 0);
    if (tally.unmeasured > 0) {
        report.told("evictions not caused by a kernel event", std::to_string(tally.unmeasured));
    }
}

}  // namespace

Status populate(PodTree& tree, int count) {
    for (int i = 0; i < count; i++) {
        const auto pod = tree.add("pod-" + std::to_string(i), "1Mi");
        if (!pod) {
            return tl::unexpected(pod.error());
        }
        if (const auto started = tree.start_sleeper(*pod); !started) {
            return tl::unexpected(started.error());
        }
    }
    return {};
}

Status measure_latency(const LatencyRun& run, const Place& place, Report& report) {
    report.heading(run.title);
    const std::string directory = place.directory + "/agent";
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory + "/pods");
    auto tree = PodTree::make(directory + "/pods");
    if (!tree) {
        return tl::unexpected(tree.error());
    }
    auto ready = populate(**tree, run.pods - 2);  // the hog and the quiet one make it whole
    if (!ready || !(ready = add_quiet_pod(**tree))) {
        return ready;
    }
    sleep_for(std::chrono::seconds(1));  // until all have touched their memory
    if (ready = (*tree)->set_limit((*tree)->usage() + room_to_grow + threshold); !ready) {
        return ready;
    }
    auto agent = AgentProcess::start(place.evictd, **tree, directory, threshold);
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

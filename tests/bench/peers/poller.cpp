// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A node agent that looks every ten seconds, as the kubelet's eviction manager does: its formula for memory.available,
// its order of pods, at most one pod a look. Where the kubelet is slower this is not: it has no cadvisor cache that may
// be older than the look, and kills the pod's cgroup itself instead of asking the container runtime.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace {

// evictionMonitoringPeriod in the kubelet (pkg/kubelet/kubelet.go).
constexpr long period_ms = 10'000;

struct Pod {
    std::string cgroup;
    std::int64_t request = 0;
    long priority = 0;
    std::int64_t working_set = 0;
};

// The value that follows a word at a line's beginning; 0 without.
std::int64_t value_of(const std::string& path, const std::string& word) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
        if (line.starts_with(word)) return std::strtoll(line.c_str() + word.size(), nullptr, 10);
    }
    return 0;
}

// cadvisor has for the root cgroup of v2, which has no memory.current, MemTotal minus MemFree as usage; the working set
// is that without inactive file pages, and available is capacity minus working set (makeSignalObservations).
std::int64_t available() {
    constexpr const char* meminfo = "/proc/meminfo";
    return (value_of(meminfo, "MemFree:") + value_of(meminfo, "Inactive(file):")) * 1024;
}

std::int64_t working_set(const std::string& cgroup) {
    const std::int64_t usage = value_of(cgroup + "/memory.current", "");
    return std::max<std::int64_t>(0, usage - value_of(cgroup + "/memory.stat", "inactive_file "));
}

// A line a pod: CGROUP REQUEST-IN-BYTES PRIORITY
std::vector<Pod> read_pods(const std::string& path) {
    std::vector<Pod> pods;
    std::ifstream file(path);
    for (Pod pod; file >> pod.cgroup >> pod.request >> pod.priority;) pods.push_back(pod);
    return pods;
}

// rankMemoryPressure: over request first, then by priority, then by how far over request.
void evict_one(std::vector<Pod>& pods) {
    for (auto& pod : pods) pod.working_set = working_set(pod.cgroup);
    const auto place = [](const Pod& pod) {
        return std::tuple(pod.working_set <= pod.request, pod.priority, pod.request - pod.working_set);
    };
    std::sort(pods.begin(), pods.end(), [&](const Pod& a, const Pod& b) { return place(a) < place(b); });
    if (pods.empty() || pods.front().working_set == 0) return;
    const int file = ::open((pods.front().cgroup + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC);
    const bool killed = file >= 0 && ::write(file, "1", 1) == 1;
    if (file >= 0) (void)::close(file);
    std::printf("%s %s\n", killed ? "killed" : "could not kill", pods.front().cgroup.c_str());
    (void)std::fflush(stdout);
}

void sleep_ms(long duration) {
    const timespec time{duration / 1000, duration % 1000 * 1'000'000};
    (void)::nanosleep(&time, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        (void)std::fputs("usage: peers_poller PODS THRESHOLD-IN-PERCENT FIRST-LOOK-IN-MS\n", stderr);
        return 2;
    }
    std::vector<Pod> pods = read_pods(argv[1]);
    const std::int64_t threshold =
        value_of("/proc/meminfo", "MemTotal:") * 1024 / 100 * std::strtoll(argv[2], nullptr, 10);
    sleep_ms(std::strtol(argv[3], nullptr, 10));
    for (;;) {
        if (available() < threshold) evict_one(pods);
        sleep_ms(period_ms);
    }
}

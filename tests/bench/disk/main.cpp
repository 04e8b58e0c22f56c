// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Trees as pods have them, and what it takes to walk all of them; tests/bench/disk/run.sh compares that with du. And
// when a filesystem falls below a threshold, for tests/bench/disk/pressure.sh.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "disk/surveyor.hpp"
#include "disk/walk.hpp"

namespace {

using namespace evictd;

// Half of the files are a page or less, and the rest up to four; 40 in a directory, directories three levels deep:
// between a checkout of sources and a cache of a build.
bool make_pod(const std::filesystem::path& pod, int files, std::mt19937& random) {
    std::uniform_int_distribution<std::size_t> size(1, 16384);
    const std::string text(16384, 'x');
    for (int i = 0; i < files; ++i) {
        const int directory = i / 40;
        const auto at = pod / std::to_string(directory / 25) / std::to_string(directory % 25);
        if (i % 40 == 0) std::filesystem::create_directories(at);
        const sys::Fd file(::open((at / ("file-" + std::to_string(i))).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
        const std::size_t length = i % 2 == 0 ? std::min<std::size_t>(size(random), 4096) : size(random);
        if (!file || ::write(file.get(), text.data(), length) != static_cast<ssize_t>(length)) return false;
    }
    return true;
}

int make(const std::filesystem::path& directory, int pods, int files) {
    std::mt19937 random(1);
    for (int pod = 0; pod < pods; ++pod) {
        const int share = (files / pods) + (pod < files % pods ? 1 : 0);
        const auto uid = "uid-" + std::to_string(pod);
        const auto logs = directory / "logs" / ("default_pod-" + std::to_string(pod) + "_" + uid) / "main";
        std::filesystem::create_directories(logs);
        std::ofstream(logs / "0.log") << "a line\n";
        if (!make_pod(directory / "pods" / uid / "volumes/kubernetes.io~empty-dir/data", share, random)) {
            std::perror("evictd_disk_bench: cannot make files");
            return 2;
        }
    }
    return 0;
}

double cpu_milliseconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto of = [](const timeval& time) {
        return (1e3 * static_cast<double>(time.tv_sec)) + (1e-3 * static_cast<double>(time.tv_usec));
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

struct Sum {
    std::atomic<std::int64_t> bytes = 0;
    std::atomic<std::int64_t> inodes = 0;
    std::atomic<bool> complete = true;
};

void walk_trees(const std::vector<std::string>& trees, std::atomic<std::size_t>& next, Sum& sum) {
    for (auto at = next++; at < trees.size(); at = next++) {
        sys::Fd root(::open(trees[at].c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        const auto usage = disk::walk(std::move(root), {}, [](std::uint64_t /*entries*/) { return true; });
        sum.bytes += usage.used.value;
        sum.inodes += usage.inodes;
        if (!usage.complete) sum.complete = false;
    }
}

// "BYTES INODES MILLISECONDS CPU-MILLISECONDS KIB-OF-MEMORY". 0 threads: as many as the agent has.
int walk(const std::string& directory, std::size_t count) {
    const auto began = std::chrono::steady_clock::now();
    std::vector<std::string> trees;
    for (const auto& entry : std::filesystem::directory_iterator(directory + "/pods")) trees.push_back(entry.path());
    std::sort(trees.begin(), trees.end());
    std::atomic<std::size_t> next = 0;
    Sum sum;
    {
        std::vector<std::jthread> threads(count == 0 ? disk::Workers::Options{}.threads : count);
        for (auto& thread : threads) thread = std::jthread([&] { walk_trees(trees, next, sum); });
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    std::printf("%lld %lld %.1f %.1f %ld\n", static_cast<long long>(sum.bytes), static_cast<long long>(sum.inodes),
                took.count(), cpu_milliseconds(), usage.ru_maxrss);
    return sum.complete ? 0 : 1;
}

// Of the program, so with all threads of the surveyor; "1.23 s": what the first survey took; then its part of a CPU.
int survey(const std::string& directory, int seconds) {
    static const sys::SystemClock clock;
    disk::Surveyor::Options options;
    options.directories = {directory + "/pods", directory + "/logs"};
    const auto began = clock.monotonic();
    const auto surveyor = disk::Surveyor::make(clock, std::move(options));
    if (!surveyor) return 2;
    const auto is_whole = [&] {
        const auto survey = (*surveyor)->newest();
        return survey->listed != MonotonicTime{} &&
               std::all_of(survey->pods.begin(), survey->pods.end(), [](const SurveyedPod& pod) {
                   return std::all_of(pod.trees.begin(), pod.trees.end(),
                                      [](const SurveyedTree& tree) { return tree.usage.has_value(); });
               });
    };
    while (!is_whole()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const std::chrono::duration<double> first = clock.monotonic() - began;
    const double first_cpu = cpu_milliseconds();
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    Duration oldest{};
    for (const auto& pod : (*surveyor)->newest()->pods) {
        for (const auto& tree : pod.trees) oldest = std::max(oldest, clock.monotonic() - tree.usage->ended);
    }
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    std::printf(
        "first survey %.2f s (CPU %.0f ms); then %.3f %% of a CPU over %d s, oldest figure %.0f s, %ld KiB resident at "
        "most\n",
        first.count(), first_cpu, (cpu_milliseconds() - first_cpu) / seconds / 10, seconds,
        std::chrono::duration<double>(oldest).count(), usage.ru_maxrss);
    return 0;
}

std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

// What the kubelet calls available; below 0: not known.
double available_mib(const std::string& directory) {
    struct statvfs status {};
    if (::statvfs(directory.c_str(), &status) != 0) return -1;
    return static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize) / (1U << 20U);
}

// Every millisecond, above all others: "CROSSED FULL ENDED RATE", in nanoseconds since 1970, and in MiB/s up to the
// crossing. FULL is "-" where a page was left for as long as the process was there.
int watch(const std::string& directory, double threshold, pid_t process, int seconds) {
    const sched_param priority{.sched_priority = 1};
    (void)::sched_setscheduler(0, SCHED_FIFO, &priority);
    const double empty = available_mib(directory);
    const auto end = now_ns() + (std::int64_t{seconds} * 1'000'000'000);
    std::int64_t began = 0;
    std::int64_t crossed = 0;
    std::int64_t full = 0;
    double rate = 0;
    while (::kill(process, 0) == 0) {
        const double left = available_mib(directory);
        const auto now = now_ns();
        if (left < 0 || now > end) return 1;
        if (began == 0 && left < empty - 16) began = now;
        if (crossed == 0 && left < threshold) {
            crossed = now;
            rate = (empty - 16 - threshold) * 1e9 / static_cast<double>(crossed - began);
        }
        if (full == 0 && left < 1) full = now;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (crossed == 0) return 1;
    std::printf("%lld %s %lld %.0f\n", static_cast<long long>(crossed), full == 0 ? "-" : std::to_string(full).c_str(),
                static_cast<long long>(now_ns()), rate);
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    const std::vector<std::string> words(arguments + 1, arguments + count);
    if (words.size() == 4 && words[0] == "make") return make(words[1], std::stoi(words[2]), std::stoi(words[3]));
    if (words.size() == 3 && words[0] == "walk") return walk(words[1], std::stoul(words[2]));
    if (words.size() == 3 && words[0] == "survey") return survey(words[1], std::stoi(words[2]));
    if (words.size() == 5 && words[0] == "watch") {
        return watch(words[1], std::stod(words[2]), std::stoi(words[3]), std::stoi(words[4]));
    }
    std::fputs(
        "usage: evictd_disk_bench make DIRECTORY PODS FILES | walk DIRECTORY THREADS | survey DIRECTORY SECONDS | "
        "watch DIRECTORY MIB PID SECONDS\n",
        stderr);
    return 2;
}

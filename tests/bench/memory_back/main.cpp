// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// From SIGKILL until a pod's memory is free again, by several ways in turns; and how fast one CPU and two free memory
// that is their own. As root; makes one cgroup in each hierarchy that it needs and removes it.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <sched.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "figures/statistics.hpp"
#include "sys/clock.hpp"
#include "victim.hpp"
#include "ways.hpp"

namespace {

using namespace evictd;
using namespace evictd::bench;

constexpr std::int64_t mib = std::int64_t{1} << 20U;
constexpr std::int64_t most_mib = 1500;

struct Options {
    int processes = 1;
    std::int64_t mib_in_all = 1400;
    bool huge = false;
    bool unequal = false;  // the biggest has half
    int pieces = 1;
    int spinners = 0;
    int shares = 1024;
    int rounds = 10;
    std::string samples;  // a file: a line for each way, its name and the milliseconds until less than 1 % is left
    std::vector<std::string> ways;
};

[[noreturn]] void usage() {
    std::fputs(
        "usage: evictd_memory_back [KEY=VALUE...] [WAY...] | limit [KEY=VALUE...]\n"
        "  processes=1 mib=1400 pages=4k|huge sizes=equal|unequal pieces=1 (mappings of a process) spinners=0 (of the\n"
        "  normal policy, beside it) shares=1024 (the pod's CPU weight; BestEffort: 2) rounds=10\n"
        "  samples=FILE (a line for each way: its name, and the milliseconds until less than 1 % is left)\n",
        stderr);
    for (const auto& way : all_ways()) std::fprintf(stderr, "  %-22s %s\n", way.name, way.what);
    std::exit(2);
}

Options parse(const std::vector<std::string>& words) {
    Options options;
    const std::map<std::string, std::function<void(const std::string&)>, std::less<>> keys{
        {"processes", [&](const auto& value) { options.processes = std::stoi(value); }},
        {"mib", [&](const auto& value) { options.mib_in_all = std::stoi(value); }},
        {"pages", [&](const auto& value) { options.huge = value == "huge"; }},
        {"sizes", [&](const auto& value) { options.unequal = value == "unequal"; }},
        {"pieces", [&](const auto& value) { options.pieces = std::stoi(value); }},
        {"spinners", [&](const auto& value) { options.spinners = std::stoi(value); }},
        {"shares", [&](const auto& value) { options.shares = std::stoi(value); }},
        {"samples", [&](const auto& value) { options.samples = value; }},
        {"rounds", [&](const auto& value) { options.rounds = std::stoi(value); }}};
    for (const auto& word : words) {
        const auto equals = word.find('=');
        if (equals == std::string::npos) {
            options.ways.push_back(word);
        } else if (const auto key = keys.find(word.substr(0, equals)); key != keys.end()) {
            key->second(word.substr(equals + 1));
        } else {
            usage();
        }
    }
    if (options.mib_in_all > most_mib || options.processes < 1 || options.rounds < 1 || options.pieces < 1) usage();
    return options;
}

std::vector<Way> chosen(const Options& options) {
    const bool v2 = PodCgroups(mib, options.shares).is_v2();
    std::vector<Way> ways;
    for (const auto& way : all_ways()) {
        const bool named = std::find(options.ways.begin(), options.ways.end(), way.name) != options.ways.end();
        const bool applies = (v2 || !way.cgroup_kill) && (options.unequal || !way.biggest_first);
        if (applies && (options.ways.empty() || named)) ways.push_back(way);
    }
    if (ways.empty()) usage();
    return ways;
}

std::vector<std::int64_t> sizes(const Options& options, bool biggest_first) {
    const auto all = options.mib_in_all * mib;
    const auto count = options.processes;
    std::vector<std::int64_t> each(static_cast<std::size_t>(count), all / count);
    if (options.unequal && count > 1) {
        std::fill(each.begin(), each.end(), all / 2 / (count - 1));
        (biggest_first ? each.front() : each.back()) = all / 2;
    }
    return each;
}

Times once(const Options& options, const Way& way) {
    const PodCgroups cgroups((options.mib_in_all + 64) * mib, options.shares);
    std::vector<Victim> victims;
    cgroups.set_shares(filling_shares);
    for (const auto bytes : sizes(options, way.biggest_first)) {
        victims.emplace_back(cgroups, Holding{bytes, options.huge, options.pieces});
    }
    const Spinners spinners(options.spinners);
    (void)::usleep(20'000);
    return measure(way, cgroups, options.shares, victims);
}

void print_row(const Way& way, const std::vector<Times>& taken, const std::vector<Times>& reference) {
    if (std::any_of(taken.begin(), taken.end(), [](const Times& times) { return times.refused; })) {
        std::printf("%-22s refused by this kernel\n", way.name);
        return;
    }
    const auto column = [](const std::vector<Times>& from, double Times::*which) {
        std::vector<double> values;
        values.reserve(from.size());
        for (const auto& times : from) values.push_back(times.*which);
        return values;
    };
    const auto to_1 = spread_of(column(taken, &Times::to_1));
    std::printf("%-22s %8.1f %8.1f %8.1f %8.1f %9.1f %9.1f", way.name, middle_of(column(taken, &Times::to_10)),
                middle_of(column(taken, &Times::to_1)), to_1.min, to_1.max, middle_of(column(taken, &Times::gone)),
                middle_of(column(taken, &Times::released)));
    if (!reference.empty()) {
        std::vector<double> ratios;
        for (std::size_t i = 0; i < taken.size(); i++) ratios.push_back(taken[i].to_1 / reference[i].to_1);
        const auto interval = interval_of_middle(ratios);
        std::printf("   %5.2f (%.2f to %.2f)", middle_of(ratios), interval.low, interval.high);
    }
    std::puts("");
}

void write_samples(const std::string& path, const std::map<std::string, std::vector<Times>>& taken) {
    std::ofstream file(path);
    for (const auto& [way, all] : taken) {
        file << way;
        for (const auto& times : all) file << (times.refused ? "" : "\t" + std::to_string(times.to_1));
        file << "\n";
    }
    if (!file) throw std::runtime_error("the samples cannot be written to " + path);
}

int compare(const Options& options) {
    const auto ways = chosen(options);
    std::map<std::string, std::vector<Times>> taken;
    for (int round = 0; round < options.rounds; round++) {
        for (std::size_t i = 0; i < ways.size(); i++) {  // each round begins with another
            const auto& way = ways[(i + static_cast<std::size_t>(round)) % ways.size()];
            taken[way.name].push_back(once(options, way));
        }
    }
    if (!options.samples.empty()) write_samples(options.samples, taken);
    std::puts(
        "ms after SIGKILL         <10 %     <1 %      min      max      gone  released   <1 %, ratio to `release`");
    const auto reference = taken.find("release");
    for (const auto& way : ways) {
        print_row(way, taken.at(way.name), reference == taken.end() ? std::vector<Times>{} : reference->second);
    }
    return 0;
}

void pin(std::size_t cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (::sched_setaffinity(0, sizeof(set), &set) != 0) die("sched_setaffinity");
}

// How long `threads` on a CPU each need to give the same memory back, a part each.
double free_own(const Options& options, int threads) {
    std::array<int, 2> answer{};
    if (::pipe(answer.data()) != 0) die("pipe");
    const PodCgroups cgroups((options.mib_in_all + 64) * mib, options.shares);
    const pid_t pid = start_child([&] {
        cgroups.enter();
        pin(0);
        const auto size = options.mib_in_all * mib / threads;
        auto pieces = take({size * threads, options.huge, threads});
        const sys::SystemClock clock;
        const auto begin = clock.monotonic();
        {
            std::vector<std::jthread> freeing;
            for (std::size_t i = 0; i < pieces.size(); i++) {
                freeing.emplace_back([&, i] {
                    pin(i);
                    (void)::madvise(pieces[i], static_cast<std::size_t>(size), MADV_DONTNEED);
                });
            }
        }
        const double took = std::chrono::duration<double, std::milli>(clock.monotonic() - begin).count();
        if (::write(answer[1], &took, sizeof(took)) != sizeof(took)) die("no answer");
    });
    double took = 0;
    (void)::close(answer[1]);
    if (::read(answer[0], &took, sizeof(took)) != sizeof(took)) die("no answer");
    (void)::close(answer[0]);
    (void)::waitpid(pid, nullptr, 0);
    return took;
}

int limit(const Options& options) {
    const auto cpus = static_cast<int>(std::thread::hardware_concurrency());
    std::map<int, std::vector<double>> taken;
    for (int round = 0; round < options.rounds; round++) {
        for (int threads = 1; threads <= cpus; threads *= 2) taken[threads].push_back(free_own(options, threads));
    }
    for (const auto& [threads, values] : taken) {
        const auto spread = spread_of(values);
        std::printf("%d CPU%s: %lld MiB in %.1f ms (%.1f to %.1f), %.0f us a MiB and CPU\n", threads,
                    threads == 1 ? "" : "s", static_cast<long long>(options.mib_in_all), middle_of(values), spread.min,
                    spread.max, middle_of(values) * 1000 * threads / static_cast<double>(options.mib_in_all));
    }
    return 0;
}

}  // namespace

int main(int count, char** arguments) try {
    std::vector<std::string> words(arguments + 1, arguments + count);
    const bool is_limit = !words.empty() && words.front() == "limit";
    if (is_limit) words.erase(words.begin());
    const auto options = parse(words);
    utsname machine{};
    (void)::uname(&machine);
    std::printf("%s: %d x %lld MiB, %s pages, %s, %d pieces, %d spinners, shares %d, %d rounds\n", machine.release,
                options.processes, static_cast<long long>(options.mib_in_all / options.processes),
                options.huge ? "huge" : "4K", options.unequal ? "unequal" : "equal", options.pieces, options.spinners,
                options.shares, options.rounds);
    (void)std::fflush(stdout);
    return is_limit ? limit(options) : compare(options);
} catch (const std::exception& error) {
    std::fprintf(stderr, "evictd_memory_back: %s\n", error.what());
    return 2;
}

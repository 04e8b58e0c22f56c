// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the agent costs while nothing happens: its threads, its BPF timer, its BPF programs, and its memory.
#include "idle.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>

#include <bpf/bpf.h>
#include <unistd.h>

#include "agent_process.hpp"
#include "evictd/abi/settings.h"
#include "parts.hpp"
#include "pod_tree.hpp"
#include "sys/clock.hpp"

namespace evictd::bench {
namespace {

constexpr int idle_pods = 110;
constexpr Bytes idle_threshold = 100_MiB;
constexpr Bytes idle_room = 1_GiB;
constexpr double most_of_a_core = 0.05;       // percent
constexpr std::int64_t most_rss = 16 * 1024;  // KiB

// Nanoseconds on a CPU, of all threads. In ticks of 10 ms, as utime has it, a minute's idling would be nothing at all.
std::uint64_t cpu_time(pid_t pid) {
    std::uint64_t sum = 0;
    std::error_code error;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", error)) {
        std::uint64_t time = 0;
        std::ifstream(thread.path() / "schedstat") >> time;
        sum += time;
    }
    return sum;
}

// Not of an agent of another version, whose entries have another size: the kernel would write beyond ours.
std::optional<evictd_timer_stats> timer_stats(const std::string& bpffs) {
    evictd_timer_stats stats{};
    const std::uint32_t zero = 0;
    const sys::Fd map(bpf_obj_get((bpffs + "/timer").c_str()));
    if (!map || value_size(map) != sizeof(stats) || bpf_map_lookup_elem(map.get(), &zero, &stats) != 0) {
        return std::nullopt;
    }
    return stats;
}

// The map has the cost of the last tick only, and one that adds up all pods' file pages may cost a thousand times what
// others do: the mean of what is found from time to time.
std::uint64_t mean_tick_cost(int seconds, const std::string& bpffs) {
    constexpr useconds_t pause = 50'000;
    const sys::SystemClock clock;
    const auto end = clock.monotonic() + std::chrono::seconds(seconds);
    std::uint64_t sum = 0;
    std::uint64_t found = 0;
    while (clock.monotonic() < end) {
        (void)usleep(pause);
        if (const auto stats = timer_stats(bpffs)) {
            sum += stats->last_tick_cost_ns;
            found++;
        }
    }
    return sum / std::max(found, std::uint64_t{1});
}

struct ProgramTime {
    std::uint64_t runs = 0;
    std::uint64_t nanoseconds = 0;
};

// Of the programs behind the agent's pinned links, while somebody holds bpf_enable_stats().
ProgramTime program_time(const std::string& bpffs) {
    ProgramTime sum;
    std::error_code error;
    for (const auto& pin : std::filesystem::directory_iterator(bpffs + "/links", error)) {
        const sys::Fd link(bpf_obj_get(pin.path().c_str()));
        bpf_link_info link_info{};
        std::uint32_t size = sizeof(link_info);
        if (!link || bpf_obj_get_info_by_fd(link.get(), &link_info, &size) != 0) {
            continue;
        }
        const sys::Fd program(bpf_prog_get_fd_by_id(link_info.prog_id));
        bpf_prog_info info{};
        size = sizeof(info);
        if (program && bpf_obj_get_info_by_fd(program.get(), &info, &size) == 0) {
            sum.runs += info.run_cnt;
            sum.nanoseconds += info.run_time_ns;
        }
    }
    return sum;
}

std::string percent(double share) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%.4f %%", share);
    return text.data();
}

void tell(const IdleCost& cost, pid_t pid, std::int64_t most_kib, Report& report) {
    report.told("its threads", percent(100 * cost.threads));
    report.figure("threads", "%", {100 * cost.threads});
    if (cost.timer_counted) {
        report.told("its BPF timer: " + std::to_string(cost.ticks) + " ticks of " + std::to_string(cost.tick_ns) +
                        " ns, every " + std::to_string(cost.period_ns / 1'000'000) + " ms",
                    percent(100 * cost.timer));
        report.figure("BPF timer", "%", {100 * cost.timer});
    } else {
        report.unmeasured("BPF timer", "the agent has no map 'timer' of this form (it may be of another version)");
    }
    if (cost.programs_counted) {
        report.told("its other BPF programs: " + std::to_string(cost.program_runs) + " runs",
                    percent(100 * cost.programs));
        report.figure("other BPF programs", "%", {100 * cost.programs});
    } else {
        report.unmeasured("other BPF programs", "the kernel refused BPF run-time statistics");
    }
    const double all = 100 * cost.all();
    if (cost.timer_counted && cost.programs_counted) {
        report.figure("together", "%", {all});
    }
    report.judged("of one core, together", percent(all), "<= 0.05 %", all <= most_of_a_core);
    const auto rss = status_kib(pid, "VmRSS");
    report.figure("VmRSS", "KiB", {static_cast<double>(rss)});
    report.told("of it locked (VmLck counts address space)", std::to_string(status_kib(pid, "VmLck")) + " KiB");
    report.judged("resident memory (VmRSS)", std::to_string(rss) + " KiB", "<= " + std::to_string(most_kib) + " KiB",
                  rss <= most_kib);
}

}  // namespace

std::int64_t status_kib(pid_t pid, const std::string& key) {
    std::ifstream lines("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(key + ":")) {
            return std::stoll(line.substr(key.size() + 1));
        }
    }
    return 0;
}

IdleCost watch_idle(int seconds, pid_t pid, const std::string& bpffs) {
    const sys::Fd counting(bpf_enable_stats(BPF_STATS_RUN_TIME));
    const auto programs_before = program_time(bpffs);
    const auto timer_before = timer_stats(bpffs);
    const auto cpu_before = cpu_time(pid);
    const auto tick_ns = mean_tick_cost(seconds, bpffs);
    const auto cpu = cpu_time(pid) - cpu_before;
    const auto timer_after = timer_stats(bpffs);
    const auto timer = timer_after.value_or(evictd_timer_stats{});
    const auto programs = program_time(bpffs);
    const auto share = [&](std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9 / seconds; };
    const auto ticks = timer.ticks - timer_before.value_or(evictd_timer_stats{}).ticks;
    return {.threads = share(cpu),
            .timer = share(ticks * tick_ns),
            .programs = share(programs.nanoseconds - programs_before.nanoseconds),
            .ticks = ticks,
            .tick_ns = tick_ns,
            .period_ns = timer.last_period_ns,
            .program_runs = programs.runs - programs_before.runs,
            .timer_counted = timer_before && timer_after,
            .programs_counted = counting.valid()};
}

void measure_idle_agent(int seconds, pid_t pid, const std::string& bpffs, std::int64_t most_kib, Report& report) {
    tell(watch_idle(seconds, pid, bpffs), pid, most_kib, report);
}

Status measure_idle(int seconds, const Place& place, Report& report) {
    report.heading("Idle for " + std::to_string(seconds) + " s with 110 pods");
    const std::string directory = place.directory + "/agent";
    auto tree = PodTree::make(directory);
    if (!tree) {
        return tl::unexpected(tree.error());
    }
    auto ready = populate(**tree, idle_pods, idle_pods);
    if (!ready || !(ready = (*tree)->set_limit((*tree)->usage() + idle_room))) {
        return ready;
    }
    auto agent = AgentProcess::start(place.evictd, **tree, directory, idle_threshold);
    if (!agent) {
        return tl::unexpected(agent.error());
    }
    (void)sleep(3);  // starting is not idling
    measure_idle_agent(seconds, (*agent)->pid(), (*agent)->bpffs(), most_rss, report);
    return {};
}

}  // namespace evictd::bench

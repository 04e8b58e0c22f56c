// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// All readers read the same 1,000 cgroups in the same run.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include "app/sources.hpp"
#include "iterator.hpp"
#include "kernel/usage_files.hpp"
#include "parts.hpp"
#include "pod_tree.hpp"
#include "sys/fd.hpp"

namespace evictd::bench {
namespace {

constexpr int bench_pods = 500;  // a pod's and a container's cgroup each
// Between two reads every container touches this much anew: memory.stat then has counters to flush.
constexpr std::size_t worked_on = std::size_t{1} << 20U;
constexpr useconds_t work_time = 400'000;
constexpr std::size_t stat_size = 8192;  // of memory.stat: it takes one read
constexpr double most_us = 300;
constexpr double least_gain = 50;

template <class Work>
double microseconds(const sys::Clock& clock, Work&& work) {
    const auto begin = clock.monotonic();
    work();
    return std::chrono::duration<double, std::micro>(clock.monotonic() - begin).count();
}

struct Files {
    sys::Fd usage;
    sys::Fd stat;
    sys::Fd processes;
};

// Of every pod and container.
Result<std::vector<Files>> open_files(const PodTree& tree, const std::vector<BenchPod>& pods) {
    const char* usage = tree.hierarchies().v2 ? "/memory.current" : "/memory.usage_in_bytes";
    std::vector<Files> all;
    for (const auto& pod : pods) {
        for (const auto& cgroup : {pod.cgroup.substr(0, pod.cgroup.rfind('/')), pod.cgroup}) {
            const std::string path = tree.hierarchies().memory + cgroup;
            auto usage_file = sys::open(path + usage, O_RDONLY);
            auto stat = sys::open(path + "/memory.stat", O_RDONLY);
            auto processes = sys::open(path + "/cgroup.procs", O_RDONLY);
            if (!usage_file || !stat || !processes) {
                return fail(ErrorKind::failed, path, "its control files cannot be opened");
            }
            all.push_back({std::move(*usage_file), std::move(*stat), std::move(*processes)});
        }
    }
    return all;
}

// The two memory files as they are, not even looked at.
void read_only(const std::vector<Files>& files, std::string& text) {
    text.resize(stat_size);
    for (const auto& file : files) {
        (void)pread(file.usage.get(), text.data(), text.size(), 0);
        (void)pread(file.stat.get(), text.data(), text.size(), 0);
    }
}

// The same figures as the iterator has: usage, the page counts, processes.
void read_figures(const std::vector<Files>& files, std::string& text, std::vector<port::CgroupUsage>& rows) {
    rows.clear();
    for (const auto& file : files) {
        auto& row = rows.emplace_back();
        (void)sys::read_text(file.usage.get(), text);
        (void)std::from_chars(text.data(), text.data() + text.size(), row.usage.value);
        (void)sys::read_text(file.stat.get(), text);
        row.inactive_file = {kernel::flat_value(text, "inactive_file")};
        row.active_file = {kernel::flat_value(text, "active_file")};
        row.anon = {kernel::flat_value(text, "inactive_anon") + kernel::flat_value(text, "active_anon")};
        (void)sys::read_text(file.processes.get(), text);
        row.processes = static_cast<std::int32_t>(std::count(text.begin(), text.end(), '\n'));
    }
}

struct Samples {
    std::vector<double> iterator;
    std::vector<double> figures;
    std::vector<double> bare;
    std::size_t rows = 0;
};

// Each reader in a loop of its own. `before_each`: what the pods do meanwhile.
template <class Meanwhile>
Result<Samples> read_all(int rounds, app::KernelSources& sources, const std::vector<Files>& files,
                         const sys::Clock& clock, Meanwhile&& before_each) {
    Samples samples;
    std::vector<port::CgroupUsage> rows;
    std::vector<port::CgroupUsage> from_files;
    std::string text;
    Status read;
    const auto repeat = [&](std::vector<double>& into, const auto& reader) {
        for (int round = 0; round < rounds && read; round++) {
            before_each();
            into.push_back(microseconds(clock, reader));
        }
    };
    repeat(samples.iterator, [&] { read = sources.usage->read(rows, port::Pass::with_processes); });
    repeat(samples.figures, [&] { read_figures(files, text, from_files); });
    repeat(samples.bare, [&] { read_only(files, text); });
    samples.rows = rows.size();
    return read ? Result<Samples>(std::move(samples)) : tl::unexpected(read.error());
}

void write_raw(const std::string& file, const Samples& samples) {
    std::ofstream raw(file);
    raw << "iterator_us,figures_us,bare_us\n";
    for (std::size_t i = 0; i < samples.iterator.size(); i++) {
        raw << samples.iterator[i] << ',' << samples.figures[i] << ',' << samples.bare[i] << '\n';
    }
}

std::string times(double slow, double fast) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%.1f", slow / fast);
    return text.data();
}

void tell_asleep(const Samples& samples, Report& report) {
    const auto fast = spread_of(samples.iterator);
    const auto figures = spread_of(samples.figures);
    const auto bare = spread_of(samples.bare);
    report.figure("BPF iterator, pods asleep", "us", samples.iterator);
    report.figure("the same figures by pread, pods asleep", "us", samples.figures);
    report.figure("two files by pread, not parsed, pods asleep", "us", samples.bare);
    report.judged("BPF iterator over " + std::to_string(samples.rows) + " cgroups, median",
                  say_microseconds(fast.median), "<= " + say_microseconds(most_us), fast.median <= most_us);
    report.told("BPF iterator, p99", say_microseconds(fast.p99));
    report.told("the same figures by pread of three open files each", say_microseconds(figures.median));
    report.judged("times faster", times(figures.median, fast.median), ">= 50",
                  figures.median / fast.median >= least_gain);
    report.told("memory.usage_in_bytes and memory.stat alone, not parsed", say_microseconds(bare.median));
    report.told("times faster", times(bare.median, fast.median));
}

// With the caches full of what the pods work on, every reader waits for memory.
void tell_at_work(const Samples& samples, Report& report) {
    const auto fast = spread_of(samples.iterator);
    const auto figures = spread_of(samples.figures);
    report.figure("BPF iterator, pods at work", "us", samples.iterator);
    report.figure("the same figures by pread, pods at work", "us", samples.figures);
    report.told("each pod touched 1 MiB anew before: BPF iterator, median", say_microseconds(fast.median));
    report.told("... the same figures by pread", say_microseconds(figures.median));
    report.told("... times faster", times(figures.median, fast.median));
}

}  // namespace

Result<app::KernelSources> open_iterator(const PodTree& tree, const sys::Clock& clock) {
    Config config;
    config.cgroup_root = tree.cgroup_root();
    config.agent.bpf = BpfUse::required;
    config.agent.bpffs_path = "/sys/fs/bpf/evictd-bench-" + std::to_string(getpid());
    auto cgroups = app::open_cgroups(config);
    if (!cgroups) {
        return tl::unexpected(cgroups.error());
    }
    auto sources = app::open_sources(config, std::move(*cgroups), clock);
    if (!sources) {
        return sources;
    }
    const auto root = sources->cgroups->find_pods_root();
    if (!root) {
        return tl::unexpected(root.error());
    }
    if (auto following = sources->events->follow(*root); !following) {
        return tl::unexpected(following.error());
    }
    return sources;
}

Status measure_usage(int rounds, const Place& place, Report& report) {
    report.heading("Usage of 1,000 cgroups (" + std::to_string(rounds) + " rounds of each reader)");
    const std::string directory = place.directory + "/agent";
    auto tree = PodTree::make(directory);
    if (!tree) {
        return tl::unexpected(tree.error());
    }
    std::vector<BenchPod> pods;
    for (int i = 0; i < bench_pods; i++) {
        auto pod = (*tree)->add("pod-" + std::to_string(i), "1Mi");
        if (!pod || !(*tree)->start_sleeper(*pod, worked_on)) {
            return fail(ErrorKind::failed, "pod-" + std::to_string(i), "could not be started");
        }
        pods.push_back(std::move(*pod));
    }
    const sys::SystemClock clock;
    auto files = open_files(**tree, pods);
    auto sources = open_iterator(**tree, clock);
    if (!files || !sources) {
        return tl::unexpected(files ? sources.error() : files.error());
    }
    const auto asleep = read_all(rounds, *sources, *files, clock, [] {});
    const auto at_work = read_all(std::max(3, rounds / 10), *sources, *files, clock, [&] {
        (*tree)->stir();
        (void)usleep(work_time);
    });
    if (!asleep || !at_work) {
        return tl::unexpected(asleep ? at_work.error() : asleep.error());
    }
    write_raw(place.directory + "/usage-asleep.csv", *asleep);
    write_raw(place.directory + "/usage-at-work.csv", *at_work);
    tell_asleep(*asleep, report);
    tell_at_work(*at_work, report);
    return {};
}

}  // namespace evictd::bench

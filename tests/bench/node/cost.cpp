// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the agent costs those who run beside it. Blocks of four slices, with the agent, without, without, with: what
// drifts cancels out within a block, and what is quoted is the median of many blocks' ratios.
#include <array>
#include <cstdio>
#include <fstream>

#include "agent_process.hpp"
#include "eviction.hpp"
#include "parts.hpp"
#include "pod_tree.hpp"
#include "workload.hpp"

namespace evictd::bench {
namespace {

constexpr int pods_beside = 110;
constexpr Bytes agent_threshold = 100_MiB;
constexpr Bytes pods_room = 1_GiB;
constexpr Slice slice_size{.cpu_us = 30'000, .wall_us = 150'000};
// In reclaim the time that tasks stand still is counted; elsewhere next to nothing is done.
constexpr double most_slower(std::size_t kind) { return kind == reclaim_kind ? 1.02 : 1.01; }
// Starting is not being there.
constexpr useconds_t settle_us = 50'000;

using Slices = std::array<Slice, workload_names.size()>;

struct Ratios {
    std::vector<double> cpu;
    std::vector<double> wall;
    std::vector<double> extra_ns;  // CPU time that a round takes more with the agent
};
// A round of sockets: a connection made, which is two of them, and both closed.
constexpr double most_ns_a_connection = 2 * 1000;  // one microsecond for making it, one for closing it

Result<Slices> run_all(Workload& workload) {
    Slices slices;
    for (std::size_t kind = 0; kind < slices.size(); kind++) {
        auto slice = workload.run(kind);
        if (!slice) {
            return tl::unexpected(slice.error());
        }
        slices.at(kind) = *slice;
    }
    return slices;
}

struct Stage {
    const Place& place;
    std::string directory;
    PodTree& tree;
    Workload& workload;
    std::uint64_t last_pod;  // its cgroup: once it is known, all are
    std::unique_ptr<AgentProcess> agent{};
};

// Where the slice before had it too, it goes on: one that has just started is not yet what it will be.
Status set_agent(Stage& stage, bool wanted) {
    if (wanted == (stage.agent != nullptr)) {
        return {};
    }
    stage.agent.reset();
    if (wanted) {
        auto started = AgentProcess::start(stage.place.evictd, stage.tree, stage.directory, agent_threshold);
        if (!started) {
            return tl::unexpected(started.error());
        }
        stage.agent = std::move(*started);
        if (auto known = stage.agent->wait_for_pod(stage.last_pod); !known) {
            return known;
        }
    }
    (void)usleep(settle_us);
    return {};
}

Status run_block(Stage& stage, std::array<Ratios, workload_names.size()>& ratios, std::ofstream& raw) {
    std::array<Slices, 2> sum{};  // without, with
    for (const bool with_agent : {true, false, false, true}) {
        const auto set = set_agent(stage, with_agent);
        const auto slices = set ? run_all(stage.workload) : Result<Slices>(tl::unexpected(set.error()));
        if (!slices) {
            return tl::unexpected(slices.error());
        }
        for (std::size_t kind = 0; kind < slices->size(); kind++) {
            auto& of = sum.at(with_agent ? 1 : 0).at(kind);
            of.cpu_us += slices->at(kind).cpu_us;
            of.wall_us += slices->at(kind).wall_us;
        }
    }
    for (std::size_t kind = 0; kind < ratios.size(); kind++) {
        const auto& [without, with] = sum;
        ratios.at(kind).cpu.push_back(with.at(kind).cpu_us / without.at(kind).cpu_us);
        ratios.at(kind).wall.push_back(with.at(kind).wall_us / without.at(kind).wall_us);
        const double rounds = 2.0 * stage.workload.rounds(kind);  // two slices each
        ratios.at(kind).extra_ns.push_back(1000 * (with.at(kind).cpu_us - without.at(kind).cpu_us) / rounds);
        raw << workload_names.at(kind) << ',' << without.at(kind).cpu_us << ',' << with.at(kind).cpu_us << ','
            << without.at(kind).wall_us << ',' << with.at(kind).wall_us << '\n';
    }
    return {};
}

std::string slower(double ratio) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%+.2f %%", 100 * (ratio - 1));
    return text.data();
}

std::string nanoseconds(double ns) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%+.0f ns", ns);
    return text.data();
}

void tell(const std::array<Ratios, workload_names.size()>& ratios, Report& report) {
    for (std::size_t kind = 0; kind < ratios.size(); kind++) {
        const auto& [cpu, wall, extra_ns] = ratios.at(kind);
        const std::string name = workload_names.at(kind);
        report.figure(name + ", CPU time with it / without", "times", cpu);
        report.figure(name + ", elapsed time with it / without", "times", wall);
        const double median = middle_of(cpu);
        const auto [low, high] = interval_of_middle(cpu);
        report.judged(name + ", CPU time", slower(median), kind == reclaim_kind ? "<= +2 %" : "<= +1 %",
                      median <= most_slower(kind));
        report.told("... the median lies, 95 %, between", slower(low) + " and " + slower(high));
        report.told("... elapsed time", slower(middle_of(wall)));
        if (kind == sockets_kind) {
            report.figure(name + ", CPU time more a connection", "ns", extra_ns);
            const double ns = middle_of(extra_ns);
            const auto [least, most] = interval_of_middle(extra_ns);
            report.judged("... CPU time a connection, made and closed", nanoseconds(ns), "<= 2 us",
                          ns <= most_ns_a_connection);
            report.told("... the median lies, 95 %, between", nanoseconds(least) + " and " + nanoseconds(most));
        }
    }
}

}  // namespace

Status measure_cost(int blocks, const Place& place, Report& report) {
    report.heading("What others pay for it, in a pod beside 110: median of " + std::to_string(blocks) +
                   " blocks with, without, without, with it");
    const std::string directory = place.directory + "/agent";
    auto tree = PodTree::make(directory);
    if (!tree) {
        return tl::unexpected(tree.error());
    }
    auto ready = populate(**tree, pods_beside, pods_beside);
    const auto worker = ready ? (*tree)->add("worker", "64Mi") : Result<BenchPod>(tl::unexpected(ready.error()));
    if (!worker || !(ready = (*tree)->set_limit((*tree)->usage() + pods_room))) {
        return worker ? ready : tl::unexpected(worker.error());
    }
    auto workload = Workload::start(**tree, *worker, slice_size);
    if (!workload) {
        return tl::unexpected(workload.error());
    }
    Stage stage{place, directory, **tree, **workload, (*tree)->id(*worker)};
    std::array<Ratios, workload_names.size()> ratios;
    std::ofstream raw(place.directory + "/cost.csv");
    raw << "workload,without_cpu_us,with_cpu_us,without_wall_us,with_wall_us\n";
    for (int block = 0; block < blocks; block++) {
        if (auto done = run_block(stage, ratios, raw); !done) {
            return done;
        }
    }
    tell(ratios, report);
    return {};
}

}  // namespace evictd::bench

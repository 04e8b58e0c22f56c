// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/sources.hpp"

#include <algorithm>

#include "app/realtime.hpp"
#include "kernel/bpf_events.hpp"
#include "kernel/cgroup_reader.hpp"
#include "kernel/file_events.hpp"
#include "kernel/mixed_events.hpp"
#include "kernel/usage_files.hpp"
#include "kernel/usage_iter.hpp"

namespace evictd::app {
namespace {

Result<std::unique_ptr<kernel::CgroupNews>> watch_cgroups(const Config& config, const kernel::CgroupDirs& cgroups,
                                                          const sys::Clock& clock) {
    auto watch = std::make_unique<kernel::CgroupWatch>(cgroups.hierarchies().memory, cgroups.candidates(), clock);
    if (!watch->works()) {
        return watch;
    }
    return kernel::CgroupReader::make(
        std::move(watch), [&cgroups](const std::string& path) { return cgroups.open_ahead(path); },
        urgency_below(config.agent.realtime_priority));
}

Result<std::unique_ptr<kernel::Bpf>> load_bpf(const Config& config, const KernelSources& sources) {
    auto choice = kernel::choose_programs();
    if (!choice) {
        return tl::unexpected(choice.error());
    }
    const auto node = sources.node->read(false);
    if (!node) {
        return tl::unexpected(node.error());
    }
    const auto& hierarchies = sources.cgroups->hierarchies();
    return kernel::Bpf::load(std::move(*choice), {.pin_path = config.agent.bpffs_path,
                                                  .memory_mount = hierarchies.memory,
                                                  .unified_mount = hierarchies.v2_mount(),
                                                  .hierarchy_id = hierarchies.memory_id,
                                                  .node_capacity = node->total});
}

// Each port by itself: what the kernel refuses comes from files.
Status open_bpf(const Config& config, const sys::Clock& clock, KernelSources& sources) {
    auto bpf = load_bpf(config, sources);
    if (!bpf) {
        return tl::unexpected(bpf.error());
    }
    const auto& hierarchies = sources.cgroups->hierarchies();
    auto watch = watch_cgroups(config, *sources.cgroups, clock);
    if (!watch) {
        return tl::unexpected(watch.error());
    }
    auto programs = kernel::BpfEvents::make(**bpf, std::move(*watch));
    if (!programs) {
        return tl::unexpected(programs.error());
    }
    if ((*bpf)->feeds("watermark")) {
        sources.events = std::move(*programs);
    } else {
        auto files = kernel::FileEvents::make(hierarchies, std::make_unique<kernel::CgroupWatch>(clock), clock, {});
        if (!files) {
            return tl::unexpected(files.error());
        }
        auto mixed = kernel::MixedEvents::make(std::move(*programs), std::move(*files));
        if (!mixed) {
            return tl::unexpected(mixed.error());
        }
        sources.events = std::move(*mixed);
    }
    if ((*bpf)->feeds("usage")) {
        sources.usage = std::make_unique<kernel::UsageIter>(**bpf);
    } else {
        sources.usage = std::make_unique<kernel::UsageFiles>(hierarchies, *sources.cgroups, clock);
    }
    sources.bpf = std::move(*bpf);
    return {};
}

// The hooks that a program is for, each with what feeds it now.
std::string fed_now(const std::string& program, const std::vector<SourceRow>& rows) {
    std::string text;
    for (const auto& candidate : kernel::candidates()) {
        const auto row =
            std::find_if(rows.begin(), rows.end(), [&](const SourceRow& of) { return of.hook == candidate.hook.name; });
        if (program != candidate.program || row == rows.end() || text.find(row->hook) != std::string::npos) {
            continue;
        }
        text += "; " + row->hook + (row->chosen.empty() ? " is not available" : " comes from " + row->chosen);
    }
    return text;
}

}  // namespace

std::vector<SourceChange> changed_sources(const KernelSources& sources) {
    if (!sources.bpf) {
        return {{"Kernel events come from files and a timed look, not from BPF: crossings are seen later",
                 sources.why_not_bpf}};
    }
    std::vector<SourceChange> changes;
    const auto rows = sources.events->sources();
    for (const auto& refusal : sources.bpf->refused()) {
        changes.push_back(
            {"The kernel refused the BPF program " + refusal.program + fed_now(refusal.program, rows), refusal.why});
    }
    return changes;
}

Result<std::unique_ptr<kernel::CgroupDirs>> open_cgroups(const Config& config) {
    auto hierarchies = kernel::find_hierarchies();
    if (!hierarchies) {
        return tl::unexpected(hierarchies.error());
    }
    return std::make_unique<kernel::CgroupDirs>(std::move(*hierarchies), config.cgroup_root, config.cgroup_driver);
}

Result<KernelSources> open_sources(const Config& config, std::unique_ptr<kernel::CgroupDirs> cgroups,
                                   const sys::Clock& clock) {
    KernelSources sources;
    const auto hierarchies = cgroups->hierarchies();
    sources.cgroups = std::move(cgroups);
    auto node = kernel::ProcFiles::open();
    if (!node) {
        return tl::unexpected(node.error());
    }
    sources.node = std::move(*node);
    auto pids = kernel::ProcPids::open();
    if (!pids) {
        return tl::unexpected(pids.error());
    }
    sources.pids = std::move(*pids);
    if (config.agent.bpf == BpfUse::off) {
        sources.why_not_bpf = "the configuration says so (evictd.bpf: off)";
    } else if (auto opened = open_bpf(config, clock, sources); !opened) {
        if (config.agent.bpf == BpfUse::required) {
            return tl::unexpected(opened.error());
        }
        sources.why_not_bpf = opened.error().text();
    }
    if (!sources.bpf) {
        auto watch = watch_cgroups(config, *sources.cgroups, clock);
        if (!watch) {
            return tl::unexpected(watch.error());
        }
        auto events = kernel::FileEvents::make(hierarchies, std::move(*watch), clock, sources.why_not_bpf);
        if (!events) {
            return tl::unexpected(events.error());
        }
        sources.events = std::move(*events);
        sources.usage = std::make_unique<kernel::UsageFiles>(hierarchies, *sources.cgroups, clock);
    }
    sources.stalls = std::make_unique<kernel::NodeStalls>(sources.bpf ? sources.bpf->stalls() : nullptr,
                                                          hierarchies.v2_mount(), clock);
    return sources;
}

}  // namespace evictd::app

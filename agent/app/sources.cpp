// SPDX-License-Identifier: Apache-2.0
#include "app/sources.hpp"

#include "kernel/bpf_events.hpp"
#include "kernel/file_events.hpp"
#include "kernel/usage_files.hpp"
#include "kernel/usage_iter.hpp"

namespace evictd::app {
namespace {

kernel::CgroupWatch watch_cgroups(const kernel::CgroupDirs& cgroups, const sys::Clock& clock) {
    return {cgroups.hierarchies().memory, cgroups.candidates(), clock};
}

Status open_bpf(const Config& config, const sys::Clock& clock, KernelSources& sources) {
    auto choice = kernel::choose_programs();
    if (!choice) {
        return tl::unexpected(choice.error());
    }
    const auto node = sources.node->read(false);
    if (!node) {
        return tl::unexpected(node.error());
    }
    const auto& hierarchies = sources.cgroups->hierarchies();
    auto bpf = kernel::Bpf::load(*choice, {.pin_path = config.agent.bpffs_path,
                                           .memory_mount = hierarchies.memory,
                                           .unified_mount = hierarchies.v2_mount(),
                                           .hierarchy_id = hierarchies.memory_id,
                                           .node_capacity = node->total});
    if (!bpf) {
        return tl::unexpected(bpf.error());
    }
    auto events = kernel::BpfEvents::make(**bpf, watch_cgroups(*sources.cgroups, clock));
    if (!events) {
        return tl::unexpected(events.error());
    }
    sources.bpf = std::move(*bpf);
    sources.events = std::move(*events);
    sources.usage = std::make_unique<kernel::UsageIter>(*sources.bpf);
    return {};
}

}  // namespace

Result<std::unique_ptr<kernel::CgroupDirs>> open_cgroups(const Config& config) {
    auto hierarchies = kernel::find_hierarchies();
    if (!hierarchies) {
        return tl::unexpected(hierarchies.error());
    }
    return std::make_unique<kernel::CgroupDirs>(std::move(*hierarchies), config.cgroup_root);
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
    if (config.agent.bpf == BpfUse::off) {
        sources.why_not_bpf = "the configuration says so (evictd.bpf: off)";
    } else if (auto opened = open_bpf(config, clock, sources); !opened) {
        if (config.agent.bpf == BpfUse::required) {
            return tl::unexpected(opened.error());
        }
        sources.why_not_bpf = opened.error().text();
    }
    if (!sources.bpf) {
        auto events =
            kernel::FileEvents::make(hierarchies, watch_cgroups(*sources.cgroups, clock), clock, sources.why_not_bpf);
        if (!events) {
            return tl::unexpected(events.error());
        }
        sources.events = std::move(*events);
        sources.usage = std::make_unique<kernel::UsageFiles>(hierarchies, *sources.cgroups);
    }
    sources.stalls = std::make_unique<kernel::NodeStalls>(sources.bpf ? sources.bpf->stalls() : nullptr,
                                                          hierarchies.v2_mount(), clock);
    return sources;
}

}  // namespace evictd::app

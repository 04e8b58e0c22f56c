// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Doctor: which program feeds each kernel hook. The programs are really loaded for a moment, beside a running agent's
// and pinned nowhere: that they load here is what `run` depends on.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <unistd.h>

#include "doctor/doctor.hpp"
#include "kernel/bpf.hpp"
#include "kernel/cgroup_watch.hpp"
#include "kernel/file_events.hpp"
#include "kernel/hierarchies.hpp"
#include "kernel/proc_files.hpp"
#include "kernel/programs.hpp"
#include "sys/clock.hpp"

namespace evictd::doctor {
namespace {

using codec::Finding;
using codec::FindingState;

// Without a program: kernel/cgroup_watch.
constexpr std::array watch_hooks{
    kernel::Hook{"cgroup_made", "cgroup_life: a pod's cgroup appears", "cgroups are listed at each look instead"},
    kernel::Hook{"cgroup_removed", "cgroup_life: a pod's cgroup is removed", "cgroups are listed at each look instead"},
};

std::vector<kernel::Hook> all_hooks() {
    auto hooks = kernel::hooks();
    hooks.insert(hooks.end(), watch_hooks.begin(), watch_hooks.end());
    return hooks;
}

FindingState state_of(const SourceRow& row) {
    if (row.chosen.empty()) {
        return FindingState::missing;
    }
    return row.fallback || !row.detail.empty() ? FindingState::fallback : FindingState::ok;
}

Finding finding_of(const SourceRow& row) {
    Finding finding{.check = row.hook, .state = state_of(row), .chosen = row.chosen, .detail = {}, .remedy = {}};
    const auto hooks = all_hooks();
    const auto hook =
        std::find_if(hooks.begin(), hooks.end(), [&](const kernel::Hook& each) { return row.hook == each.name; });
    if (hook != hooks.end()) {
        finding.detail = hook->purpose;
        if (row.chosen.empty() && row.detail != hook->lost) {
            finding.detail += std::string("; lost: ") + hook->lost;
        }
    }
    if (!row.detail.empty()) {
        finding.detail += (finding.detail.empty() ? "" : "; ") + row.detail;
    }
    return finding;
}

struct LoadedHooks {
    std::vector<SourceRow> rows;
    std::string refused;  // programs that the kernel does not take, with its words; empty: none
};

// What the agent reads instead.
void fall_back(SourceRow& row) {
    const bool watermark = row.hook == "watermark";
    if (row.chosen.empty() && (watermark || row.hook == "usage")) {
        row.chosen = watermark ? "timed look, 10 ms to 1 s" : "control files";
        row.fallback = true;
    }
}

Result<LoadedHooks> load_programs() {
    auto choice = kernel::choose_programs();
    if (!choice) {
        return tl::unexpected(choice.error());
    }
    const auto hierarchies = kernel::find_hierarchies();
    if (!hierarchies) {
        return tl::unexpected(hierarchies.error());
    }
    const std::int64_t capacity = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    const auto bpf = kernel::Bpf::load(std::move(*choice), {.pin_path = {},
                                                            .memory_mount = hierarchies->memory,
                                                            .unified_mount = hierarchies->v2_mount(),
                                                            .hierarchy_id = hierarchies->memory_id,
                                                            .node_capacity = Bytes{capacity}});
    if (!bpf) {
        return tl::unexpected(bpf.error());
    }
    LoadedHooks loaded{.rows = (*bpf)->rows(), .refused = {}};
    std::for_each(loaded.rows.begin(), loaded.rows.end(), fall_back);
    for (const auto& refusal : (*bpf)->refused()) {
        loaded.refused += (loaded.refused.empty() ? "" : "; ") + refusal.program + ": " + refusal.why;
    }
    const sys::SystemClock clock;
    const auto pods = kernel::CgroupWatch(hierarchies->memory, {}, clock).rows();
    loaded.rows.insert(loaded.rows.end(), pods.begin(), pods.end());
    return loaded;
}

// What the agent would do without BPF, in its own words.
std::vector<SourceRow> file_rows(const std::string& why) {
    const auto hierarchies = kernel::find_hierarchies();
    const sys::SystemClock clock;
    if (!hierarchies) {
        return {};
    }
    auto events = kernel::FileEvents::make(
        *hierarchies, std::make_unique<kernel::CgroupWatch>(hierarchies->memory, std::vector<std::string>{}, clock),
        clock, why);
    return events ? (*events)->sources() : std::vector<SourceRow>{};
}

Finding finding_of(const LoadedHooks& loaded) {
    if (loaded.refused.empty()) {
        return {.check = "BPF", .chosen = "programs load", .detail = {}, .remedy = {}};
    }
    return {.check = "BPF",
            .state = FindingState::fallback,
            .chosen = "programs load, but not all",
            .detail = "refused by this kernel: " + loaded.refused,
            .remedy = {}};
}

// Not root: nothing could be tried.
void report_unseen(codec::DoctorReport& report) {
    report.checks.push_back({.check = "BPF",
                             .state = FindingState::unknown,
                             .chosen = {},
                             .detail = "only root can try which programs load",
                             .remedy = "run doctor as root"});
    for (const auto& hook : all_hooks()) {
        report.hooks.push_back(
            {.check = hook.name, .state = FindingState::unknown, .chosen = {}, .detail = hook.purpose, .remedy = {}});
    }
}

}  // namespace

bool examine_hooks(const Config& config, codec::DoctorReport& report) {
    const auto loaded = config.agent.bpf == BpfUse::off
                            ? fail(ErrorKind::failed, "BPF", "the configuration says so (evictd.bpf: off)")
                            : load_programs();
    const bool suffices = loaded || config.agent.bpf != BpfUse::required;
    if (!loaded && geteuid() != 0) {
        report_unseen(report);
        return suffices;
    }
    const std::string why = loaded ? "" : loaded.error().text();
    report.checks.push_back(loaded ? finding_of(*loaded)
                                   : Finding{.check = "BPF",
                                             .state = FindingState::fallback,
                                             .chosen = "files and a timed look",
                                             .detail = why,
                                             .remedy = {}});
    for (const auto& row : loaded ? loaded->rows : file_rows(why)) {
        report.hooks.push_back(finding_of(row));
    }
    return suffices;
}

}  // namespace evictd::doctor

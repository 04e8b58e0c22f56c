// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Doctor: which program feeds each kernel hook. The programs are really loaded for a moment, beside a running agent's
// and pinned nowhere: that they load here is what `run` depends on.
#include <algorithm>
#include <array>
#include <string>

#include <unistd.h>

#include "doctor/doctor.hpp"
#include "kernel/bpf.hpp"
#include "kernel/file_events.hpp"
#include "kernel/hierarchies.hpp"
#include "kernel/proc_files.hpp"
#include "kernel/programs.hpp"
#include "sys/clock.hpp"

namespace evictd::doctor {
namespace {

using codec::Finding;
using codec::FindingState;

struct HookMeaning {
    const char* hook;
    const char* purpose;
    const char* lost;
};
constexpr std::array<HookMeaning, 13> meanings{{
    {"watermark", "reports when free memory crosses a threshold", "a timed look at the files, 10 ms to 1 s, instead"},
    {"usage", "reads every pod's memory in one pass", "control files are read instead, fifty times slower"},
    {"cgroup_made", "cgroup_life: a pod's cgroup appears", "cgroups are listed at each look instead"},
    {"cgroup_removed", "cgroup_life: a pod's cgroup is removed", "cgroups are listed at each look instead"},
    {"cgroup_populated", "cgroup_life: a victim's last process is gone; asked only while one may end soon",
     "cgroup.procs is read at each look instead"},
    {"oom", "reports which process the kernel's OOM killer chose", "OOM kills by the kernel are not reported"},
    {"oom_limit", "reports whose limit an OOM kill is for",
     "taken to be the nearest cgroup at its limit, else the machine"},
    {"oom_score", "reports when a pod's oom_score_adj is written",
     "oom_score_adj is read with each regular look instead"},
    {"stall", "counts the time tasks stall on memory, per pod and node",
     "the node's from /proc/pressure/memory at each look; pods' not at all"},
    {"memcg", "reports when pods run into their limits",
     "PodAtMemoryLimit is not reported; for all pods together, v2: memory.events of their cgroup, v1: nothing"},
    {"sockets", "counts the sockets that pods hold, and their memory", "nothing is known of any pod's sockets"},
    {"sockets_shed", "can refuse a pod new sockets", "no pod is shed"},
    {"sockets_short", "reports when sockets are refused memory", "SocketMemoryPressure is not reported"},
}};

const HookMeaning* meaning_of(const std::string& hook) {
    const auto* const found =
        std::find_if(meanings.begin(), meanings.end(), [&](const HookMeaning& row) { return hook == row.hook; });
    return found != meanings.end() ? found : nullptr;
}

Finding finding_of(const SourceRow& row) {
    Finding finding{.check = row.hook, .chosen = row.chosen, .detail = {}, .remedy = {}};
    const auto* meaning = meaning_of(row.hook);
    finding.state = row.chosen.empty()                    ? FindingState::missing
                    : row.fallback || !row.detail.empty() ? FindingState::fallback
                                                          : FindingState::ok;
    if (meaning != nullptr) {
        finding.detail = meaning->purpose;
        if (row.chosen.empty() && row.detail != meaning->lost) {
            finding.detail += std::string("; lost: ") + meaning->lost;
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
    auto events =
        kernel::FileEvents::make(*hierarchies, kernel::CgroupWatch(hierarchies->memory, {}, clock), clock, why);
    return events ? (*events)->sources() : std::vector<SourceRow>{};
}

}  // namespace

bool examine_hooks(const Config& config, codec::DoctorReport& report) {
    Finding finding{.check = "BPF", .chosen = {}, .detail = {}, .remedy = {}};
    std::vector<SourceRow> rows;
    bool suffices = true;
    const auto loaded = config.agent.bpf == BpfUse::off
                            ? fail(ErrorKind::failed, "BPF", "the configuration says so (evictd.bpf: off)")
                            : load_programs();
    if (loaded) {
        finding.chosen = loaded->refused.empty() ? "programs load" : "programs load, but not all";
        finding.state = loaded->refused.empty() ? FindingState::ok : FindingState::fallback;
        finding.detail = loaded->refused.empty() ? "" : "refused by this kernel: " + loaded->refused;
        rows = loaded->rows;
    } else {
        const bool unseen = geteuid() != 0;
        finding.state = unseen ? FindingState::unknown : FindingState::fallback;
        finding.chosen = unseen ? "" : "files and a timed look";
        finding.detail = unseen ? "only root can try which programs load" : loaded.error().text();
        rows = unseen ? rows : file_rows(loaded.error().text());
        suffices = config.agent.bpf != BpfUse::required;
    }
    report.checks.push_back(finding);
    for (const auto& row : rows) {
        report.hooks.push_back(finding_of(row));
    }
    if (finding.state == FindingState::unknown) {
        report.hooks.clear();
        for (const auto& row : meanings) {
            report.hooks.push_back(
                {.check = row.hook, .state = FindingState::unknown, .chosen = {}, .detail = row.purpose, .remedy = {}});
        }
    }
    return suffices;
}

}  // namespace evictd::doctor

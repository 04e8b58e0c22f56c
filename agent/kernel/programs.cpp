// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/programs.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "kernel/hook_probes.hpp"
#include "kernel/kernel_btf.hpp"
#include "kernel/load_memory.hpp"

namespace evictd::kernel {
namespace {

std::string label(const Candidate& candidate) {
    switch (candidate.attach) {
        case Attach::tracepoint:
            return std::string("tp_btf/") + candidate.target;
        case Attach::fentry:
            return std::string("fentry/") + candidate.target;
        case Attach::iterator:
            return std::string("iter/") + candidate.target;
        case Attach::cgroup:
            return std::string("cgroup/") + candidate.target;
        default:
            return candidate.target;
    }
}

std::string refusal_text(int error) {
    switch (error) {
        case ENOENT:
            return "not in this kernel";
        case EPROTOTYPE:
            return "has other arguments here";
        default:
            return std::strerror(error);
    }
}

SourceRow& row_of(Choice& choice, const Candidate& candidate) {
    for (auto& row : choice.rows) {
        if (row.hook == candidate.hook.name) {
            return row;
        }
    }
    return choice.rows.emplace_back(
        SourceRow{.hook = candidate.hook.name, .chosen = {}, .fallback = false, .detail = {}});
}

void append(std::string& text, const std::string& more) { text += (text.empty() ? "" : "; ") + more; }

// How many rows at the beginning belong together.
std::size_t group_size(std::span<const Candidate> rows) {
    const auto& first = rows.front();
    std::size_t size = 1;
    while (first.group != 0 && size < rows.size() && rows[size].group == first.group &&
           std::string_view(rows[size].hook.name) == first.hook.name) {
        size++;
    }
    return size;
}

// A hook whose programs are of no use where another one is not fed by BPF.
struct Need {
    const char* hook;
    const char* other;
};
// The timer closes the slots in which stalls are counted, and the iterator's rows have those of the pods.
constexpr std::array<Need, 2> needs{{{"stall", "watermark"}, {"stall", "usage"}}};

std::string missing_need(const Choice& choice, const char* hook) {
    for (const auto& need : needs) {
        if (std::string_view(need.hook) == hook && !feeds(choice, need.other)) {
            return need.other;
        }
    }
    return {};
}

const Refusal* find_refusal(const Choice& choice, const Candidate& candidate) {
    const auto found = std::find_if(choice.refused.begin(), choice.refused.end(),
                                    [&](const Refusal& refusal) { return refusal.program == candidate.program; });
    return found == choice.refused.end() ? nullptr : &*found;
}

// Since Linux 6.2. The type is the one that load() casts to.
bool can_cast(const btf* kernel) {
    return btf__find_by_name_kind(kernel, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0 &&
           btf__find_by_name_kind(kernel, "timespec64", BTF_KIND_STRUCT) > 0;
}

// Takes the group for its hook, unless a better one was taken or the kernel refuses one of it. 0, or its errno.
int consider(const btf* kernel, std::span<const Candidate> group, Choice& choice) {
    const auto& first = group.front();
    auto& row = row_of(choice, first);
    if (!row.chosen.empty()) {
        return 0;
    }
    if (const auto need = missing_need(choice, first.hook.name); !need.empty()) {
        row.detail = "of no use without the program for " + need;
        return 0;
    }
    for (const auto& candidate : group) {
        if (const auto* refusal = find_refusal(choice, candidate)) {
            append(row.detail, label(candidate) + ": " + candidate.program + ": " + refusal->why);
            return EINVAL;
        }
        if (const int error = probe_hook(kernel, candidate); error != 0) {
            append(row.detail, label(candidate) + ": " + refusal_text(error));
            return error;
        }
    }
    row.chosen = label(first);
    if (*first.note != '\0') {
        append(row.detail, first.note);
    }
    for (const auto& candidate : group) {
        choice.chosen.push_back(&candidate);
    }
    return 0;
}

const char* remedy_for(int error) {
    if (error == EPERM) {
        return "run as root with CAP_BPF and CAP_PERFMON";
    }
    return error == ENOSYS ? "use a kernel with CONFIG_BPF_SYSCALL" : "use a kernel of 6.1 or later";
}

namespace on {

constexpr Hook watermark{"watermark", "reports when free memory crosses a threshold",
                         "a timed look at the files, 10 ms to 1 s, instead"};
constexpr Hook usage{"usage", "reads every pod's memory in one pass",
                     "control files are read instead, fifty times slower"};
constexpr Hook cgroup_populated{
    "cgroup_populated", "cgroup_life: a victim's last process is gone; attached only while an eviction may come soon",
    "cgroup.procs is read at each look instead"};
constexpr Hook oom{"oom", "reports which process the kernel's OOM killer chose",
                   "OOM kills by the kernel are not reported"};
constexpr Hook oom_limit{"oom_limit", "reports whose limit an OOM kill is for",
                         "taken to be the nearest cgroup at its limit, else the machine"};
constexpr Hook oom_score{"oom_score", "reports when a pod's oom_score_adj is written",
                         "oom_score_adj is read with each regular look instead"};
constexpr Hook memcg{
    "memcg", "reports when pods run into their limits",
    "PodAtMemoryLimit is not reported; for all pods together, v2: memory.events of their cgroup, v1: nothing"};
constexpr Hook sockets{"sockets", "counts the sockets that pods hold, and their memory",
                       "nothing is known of any pod's sockets"};
constexpr Hook sockets_shed{"sockets_shed", "can refuse a pod new sockets", "no pod is shed"};
constexpr Hook sockets_short{"sockets_short", "reports when sockets are refused memory",
                             "SocketMemoryPressure is not reported"};
constexpr Hook stall{"stall", "counts the time tasks stall on memory, per pod and node",
                     "the node's from /proc/pressure/memory at each look; pods' not at all"};

}  // namespace on

}  // namespace

const std::vector<Candidate>& candidates() {
    static const std::vector<Candidate> table{
        {on::watermark, "start_watermarks", Attach::timer, "bpf_timer", nullptr, "", false, 1},
        {on::watermark, "find_pods_root", Attach::iterator, "cgroup", nullptr, "", false, 1},
        {on::usage, "find_pods_root", Attach::iterator, "cgroup", nullptr, "", false, 1},
        {on::usage, "read_usage", Attach::iterator, "task", nullptr, "", false, 1},
        {on::cgroup_populated, "on_cgroup_populated", Attach::tracepoint, "cgroup_notify_populated", nullptr, "", true},
        {on::oom, "on_mark_victim_task", Attach::tracepoint, "mark_victim", "task_struct", ""},
        {on::oom, "on_mark_victim_pid", Attach::tracepoint, "mark_victim", "",
         "the victim is known by its pid only, except where its limit is reported"},
        {on::oom_limit, "on_oom_kill_process", Attach::fentry, "oom_kill_process", nullptr, ""},
        {on::oom_score, "on_oom_score_adj_update", Attach::tracepoint, "oom_score_adj_update", "task_struct", ""},
        {on::memcg, "on_try_to_free", Attach::fentry, "try_to_free_mem_cgroup_pages", nullptr, ""},
        {on::memcg, "on_memcg_reclaim", Attach::tracepoint, "mm_vmscan_memcg_reclaim_begin", nullptr,
         "the cgroup is taken to be the nearest at its limit above the allocating task"},
        {on::sockets, "count_sockets", Attach::iterator, "task_file", nullptr, ""},
        {on::sockets_shed, "on_sock_create", Attach::cgroup, "sock_create", nullptr, ""},
        {on::sockets_short, "on_socket_memory_short", Attach::tracepoint, "sock_exceed_buf_limit", nullptr, ""},
        {on::stall, "on_memstall_enter", Attach::fentry, "psi_memstall_enter", nullptr, "", false, 1},
        {on::stall, "on_memstall_leave", Attach::fentry, "psi_memstall_leave", nullptr, "", false, 1},
        {on::stall, "count_direct_reclaim", Attach::tracepoint, "mm_vmscan_direct_reclaim_end", nullptr, "", false, 1},
        {on::stall, "count_memcg_reclaim", Attach::tracepoint, "mm_vmscan_memcg_reclaim_end", nullptr, "", false, 1},
        {on::stall, "on_stalled_exit", Attach::tracepoint, "sched_process_exit", nullptr, "", false, 1},
        {on::stall, "on_memcg_reclaim_begin", Attach::tracepoint, "mm_vmscan_memcg_reclaim_begin", nullptr,
         "reclaim alone counts: waiting for refaults, compaction and throttling above memory.high do not", false, 2},
        {on::stall, "on_memcg_reclaim_end", Attach::tracepoint, "mm_vmscan_memcg_reclaim_end", nullptr, "", false, 2},
        {on::stall, "on_direct_reclaim_begin", Attach::tracepoint, "mm_vmscan_direct_reclaim_begin", nullptr, "", false,
         2},
        {on::stall, "on_direct_reclaim_end", Attach::tracepoint, "mm_vmscan_direct_reclaim_end", nullptr, "", false, 2},
        {on::stall, "on_stalled_exit", Attach::tracepoint, "sched_process_exit", nullptr, "", false, 2},
    };
    return table;
}

std::vector<Hook> hooks() {
    std::vector<Hook> all;
    for (const auto& candidate : candidates()) {
        const auto same = [&](const Hook& hook) { return std::string_view(hook.name) == candidate.hook.name; };
        if (std::none_of(all.begin(), all.end(), same)) {
            all.push_back(candidate.hook);
        }
    }
    return all;
}

bool feeds(const Choice& choice, std::string_view hook) {
    return std::any_of(choice.chosen.begin(), choice.chosen.end(),
                       [&](const Candidate* candidate) { return hook == candidate->hook.name; });
}

Result<Choice> choose_programs(std::vector<Refusal> refused) {
    libbpf_set_print([](libbpf_print_level, const char*, va_list) { return 0; });
    prepare_load_memory();
    Btf kernel(btf__load_vmlinux_btf());
    if (!kernel) {
        return fail(ErrorKind::failed, "BPF", std::string("no kernel BTF: ") + std::strerror(errno),
                    "use a kernel with CONFIG_DEBUG_INFO_BTF");
    }
    Choice choice;
    choice.refused = std::move(refused);
    choice.has_rdonly_cast = can_cast(kernel.get());
    int last_error = 0;
    for (std::span<const Candidate> left(candidates()); !left.empty();) {
        const auto group = left.first(group_size(left));
        left = left.subspan(group.size());
        const int error = consider(kernel.get(), group, choice);
        last_error = error != 0 ? error : last_error;
    }
    if (choice.chosen.empty()) {
        const auto& row = choice.rows.front();
        return fail(last_error == EPERM ? ErrorKind::not_permitted : ErrorKind::failed, "BPF",
                    "nothing can feed " + row.hook + ": " + row.detail, remedy_for(last_error));
    }
    choice.kernel_btf = std::move(kernel);
    return choice;
}

Result<Choice> choose_without(const Choice& choice, Refusal refusal) {
    const bool is_chosen = std::any_of(choice.chosen.begin(), choice.chosen.end(), [&](const Candidate* candidate) {
        return refusal.program == candidate->program;
    });
    if (!is_chosen) {
        return fail(ErrorKind::failed, "BPF " + refusal.program, refusal.why,
                    "evictd doctor tells what this kernel takes");
    }
    auto refused = choice.refused;
    refused.push_back(std::move(refusal));
    return choose_programs(std::move(refused));
}

}  // namespace evictd::kernel

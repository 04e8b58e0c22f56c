// SPDX-License-Identifier: Apache-2.0
#include "kernel/programs.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <unistd.h>

#include "sys/fd.hpp"

namespace evictd::kernel {
namespace {

struct FreeBtf {
    void operator()(btf* kernel) const { btf__free(kernel); }
};
using Btf = std::unique_ptr<btf, FreeBtf>;

// r0 = 0; exit
const std::array<bpf_insn, 2> nothing{{
    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .src_reg = 0, .off = 0, .imm = 0},
    {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0},
}};

// The BTF name a program of this kind attaches to; libbpf finds it by the same rule.
std::string btf_name(const Candidate& candidate) {
    switch (candidate.attach) {
        case Attach::tracepoint:
            return std::string("btf_trace_") + candidate.target;
        case Attach::iterator:
            return std::string("bpf_iter_") + candidate.target;
        default:
            return candidate.target;
    }
}

// The struct behind the first argument of a tracepoint: "task_struct" for mark_victim(task, uid), "" for a number.
std::string first_argument(const btf* kernel, const std::string& tracepoint) {
    const int id = btf__find_by_name_kind(kernel, tracepoint.c_str(), BTF_KIND_TYPEDEF);
    if (id < 0) {
        return {};
    }
    const btf_type* pointer = btf__type_by_id(kernel, btf__type_by_id(kernel, static_cast<std::uint32_t>(id))->type);
    const btf_type* prototype = btf__type_by_id(kernel, pointer->type);
    if (btf_vlen(prototype) < 2) {
        return {};  // the first parameter of a btf_trace_ prototype is the tracepoint's own
    }
    const btf_type* argument = btf__type_by_id(kernel, btf_params(prototype)[1].type);
    if (!btf_is_ptr(argument)) {
        return {};
    }
    argument = btf__type_by_id(kernel, argument->type);
    while (btf_is_mod(argument)) {
        argument = btf__type_by_id(kernel, argument->type);
    }
    return btf__name_by_offset(kernel, argument->name_off);
}

// 0, or the errno with which the kernel refuses it.
int probe_load(const btf* kernel, const Candidate& candidate) {
    const std::string name = btf_name(candidate);
    const std::uint32_t kind = candidate.attach == Attach::tracepoint ? BTF_KIND_TYPEDEF : BTF_KIND_FUNC;
    const int id = btf__find_by_name_kind(kernel, name.c_str(), kind);
    if (id < 0) {
        return ENOENT;
    }
    bpf_prog_load_opts options{};
    options.sz = sizeof(options);
    options.attach_btf_id = static_cast<std::uint32_t>(id);
    options.expected_attach_type = candidate.attach == Attach::tracepoint ? BPF_TRACE_RAW_TP
                                   : candidate.attach == Attach::fentry   ? BPF_TRACE_FENTRY
                                                                          : BPF_TRACE_ITER;
    const sys::Fd program(
        bpf_prog_load(BPF_PROG_TYPE_TRACING, "evictd_probe", "GPL", nothing.data(), nothing.size(), &options));
    if (!program) {
        return errno;
    }
    if (candidate.attach != Attach::fentry) {
        return 0;
    }
    // Some kernels load an fentry program and refuse the trampoline when it is attached.
    const sys::Fd link(bpf_raw_tracepoint_open(nullptr, program.get()));
    return link ? 0 : errno;
}

int probe_timer() {
    bpf_prog_load_opts options{};
    options.sz = sizeof(options);
    options.prog_flags = BPF_F_SLEEPABLE;  // what SEC("syscall") programs are
    const sys::Fd program(
        bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "evictd_probe", "GPL", nothing.data(), nothing.size(), &options));
    return program ? 0 : errno;
}

int probe_sock_create() {
    bpf_prog_load_opts options{};
    options.sz = sizeof(options);
    options.expected_attach_type = BPF_CGROUP_INET_SOCK_CREATE;
    std::array<bpf_insn, 2> allow = nothing;
    allow[0].imm = 1;
    const sys::Fd program(
        bpf_prog_load(BPF_PROG_TYPE_CGROUP_SOCK, "evictd_probe", "GPL", allow.data(), allow.size(), &options));
    return program ? 0 : errno;
}

int probe(const btf* kernel, const Candidate& candidate) {
    if (candidate.attach == Attach::timer) {
        return probe_timer();
    }
    if (candidate.attach == Attach::cgroup) {
        return probe_sock_create();
    }
    if (candidate.first_argument != nullptr &&
        first_argument(kernel, btf_name(candidate)) != candidate.first_argument) {
        return EPROTOTYPE;
    }
    return probe_load(kernel, candidate);
}

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

std::string refusal(int error) {
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
        if (row.hook == candidate.hook) {
            return row;
        }
    }
    return choice.rows.emplace_back(SourceRow{.hook = candidate.hook, .chosen = {}, .fallback = false, .detail = {}});
}

// Without these two there is neither a signal nor anything to rank by: reading files does better than the rest alone.
const SourceRow* missing_essential(const Choice& choice) {
    for (const auto& row : choice.rows) {
        if (row.chosen.empty() && (row.hook == "watermark" || row.hook == "usage")) {
            return &row;
        }
    }
    return nullptr;
}

void append(std::string& text, const std::string& more) { text += (text.empty() ? "" : "; ") + more; }

// How many rows at the beginning belong together.
std::size_t group_size(std::span<const Candidate> rows) {
    const auto& first = rows.front();
    std::size_t size = 1;
    while (first.group != 0 && size < rows.size() && rows[size].group == first.group &&
           std::string_view(rows[size].hook) == first.hook) {
        size++;
    }
    return size;
}

// Takes the group for its hook, unless a better one was taken or the kernel refuses one of it. 0, or its errno.
int consider(const btf* kernel, std::span<const Candidate> group, Choice& choice) {
    const auto& first = group.front();
    auto& row = row_of(choice, first);
    if (!row.chosen.empty()) {
        return 0;
    }
    for (const auto& candidate : group) {
        if (const int error = probe(kernel, candidate); error != 0) {
            append(row.detail, label(candidate) + ": " + refusal(error));
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

// Where nothing loads at all, the error is not about the kernel's age.
const char* remedy_for(bool nothing_loads, int error) {
    if (nothing_loads && error == EPERM) {
        return "run as root with CAP_BPF and CAP_PERFMON";
    }
    return nothing_loads && error == ENOSYS ? "use a kernel with CONFIG_BPF_SYSCALL" : "use a kernel of 6.1 or later";
}

}  // namespace

const std::vector<Candidate>& candidates() {
    static const std::vector<Candidate> table{
        {"watermark", "start_watermarks", Attach::timer, "bpf_timer", nullptr, ""},
        {"usage", "read_usage", Attach::iterator, "cgroup", nullptr, ""},
        {"cgroup_populated", "on_cgroup_populated", Attach::tracepoint, "cgroup_notify_populated", nullptr, "", true},
        {"oom", "on_mark_victim_task", Attach::tracepoint, "mark_victim", "task_struct", ""},
        {"oom", "on_mark_victim_pid", Attach::tracepoint, "mark_victim", "",
         "the victim is known by its pid only, but where its limit is told"},
        {"oom_limit", "on_oom_kill_process", Attach::fentry, "oom_kill_process", nullptr, ""},
        {"oom_score", "on_oom_score_adj_update", Attach::tracepoint, "oom_score_adj_update", "task_struct", ""},
        {"memcg", "on_try_to_free", Attach::fentry, "try_to_free_mem_cgroup_pages", nullptr, ""},
        {"memcg", "on_memcg_reclaim", Attach::tracepoint, "mm_vmscan_memcg_reclaim_begin", nullptr,
         "the cgroup is taken to be the nearest at its limit above the allocating task"},
        {"sockets", "count_sockets", Attach::iterator, "task_file", nullptr, ""},
        {"sockets_shed", "on_sock_create", Attach::cgroup, "sock_create", nullptr, ""},
        {"sockets_short", "on_socket_memory_short", Attach::tracepoint, "sock_exceed_buf_limit", nullptr, ""},
        {"stall", "on_memstall_enter", Attach::fentry, "psi_memstall_enter", nullptr, "", false, 1},
        {"stall", "on_memstall_leave", Attach::fentry, "psi_memstall_leave", nullptr, "", false, 1},
        {"stall", "count_direct_reclaim", Attach::tracepoint, "mm_vmscan_direct_reclaim_end", nullptr, "", false, 1},
        {"stall", "count_memcg_reclaim", Attach::tracepoint, "mm_vmscan_memcg_reclaim_end", nullptr, "", false, 1},
        {"stall", "on_stalled_exit", Attach::tracepoint, "sched_process_exit", nullptr, "", false, 1},
        {"stall", "on_memcg_reclaim_begin", Attach::tracepoint, "mm_vmscan_memcg_reclaim_begin", nullptr,
         "reclaim alone counts: waiting for refaults, compaction and throttling above memory.high do not", false, 2},
        {"stall", "on_memcg_reclaim_end", Attach::tracepoint, "mm_vmscan_memcg_reclaim_end", nullptr, "", false, 2},
        {"stall", "on_direct_reclaim_begin", Attach::tracepoint, "mm_vmscan_direct_reclaim_begin", nullptr, "", false,
         2},
        {"stall", "on_direct_reclaim_end", Attach::tracepoint, "mm_vmscan_direct_reclaim_end", nullptr, "", false, 2},
        {"stall", "on_stalled_exit", Attach::tracepoint, "sched_process_exit", nullptr, "", false, 2},
    };
    return table;
}

Result<Choice> choose_programs() {
    libbpf_set_print([](libbpf_print_level, const char*, va_list) { return 0; });
    const Btf kernel(btf__load_vmlinux_btf());
    if (!kernel) {
        return fail(ErrorKind::failed, "BPF", std::string("no kernel BTF: ") + std::strerror(errno),
                    "use a kernel with CONFIG_DEBUG_INFO_BTF");
    }
    Choice choice;
    int last_error = 0;
    for (std::span<const Candidate> left(candidates()); !left.empty();) {
        const auto group = left.first(group_size(left));
        left = left.subspan(group.size());
        const int error = consider(kernel.get(), group, choice);
        last_error = error != 0 ? error : last_error;
    }
    if (const auto* missing = missing_essential(choice)) {
        const bool nothing_loads = choice.chosen.empty();
        return fail(nothing_loads && last_error == EPERM ? ErrorKind::not_permitted : ErrorKind::failed, "BPF",
                    "nothing can feed " + missing->hook + ": " + missing->detail,
                    remedy_for(nothing_loads, last_error));
    }
    return choice;
}

}  // namespace evictd::kernel

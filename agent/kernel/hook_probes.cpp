// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/hook_probes.hpp"

#include <array>
#include <cerrno>
#include <string>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <unistd.h>

#include "sys/fd.hpp"

namespace evictd::kernel {
namespace {

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

}  // namespace

int probe_hook(const btf* kernel, const Candidate& candidate) {
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

}  // namespace evictd::kernel

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// libbpf calls us before it loads a program: we keep the program as it is then, relocated, and let libbpf load two
// instructions in its place. When it is done the programs that were kept are loaded by several threads, and each takes
// over the descriptor of its placeholder, so that libbpf attaches it as if it were its own.
#include "kernel/verify_together.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <evictd/skeleton.h>
#include <fcntl.h>
#include <unistd.h>

#include "kernel/programs.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {
namespace {

// The largest program is a quarter of the whole: more threads would wait for it.
constexpr std::size_t most_threads = 4;

struct Kept {
    bpf_program* program;
    std::vector<bpf_insn> code;
    bpf_prog_load_opts options;  // what it points to is the object's
    sys::Fd loaded;
};

// Those of the object that this thread loads; null: libbpf loads them itself.
thread_local std::vector<Kept>* kept_programs = nullptr;

// r0 = 0; exit
std::array<bpf_insn, 2> placeholder{{
    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .src_reg = 0, .off = 0, .imm = 0},
    {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0},
}};

int keep(bpf_program* program, bpf_prog_load_opts* options, long /*cookie*/) {
    if (bpf_program__type(program) == BPF_PROG_TYPE_SYSCALL) {
        options->prog_flags |= BPF_F_SLEEPABLE;  // libbpf's own handler, which ours replaces, sets it
    }
    if (kept_programs == nullptr) {
        return 0;
    }
    const bpf_insn* code = bpf_program__insns(program);
    auto& kept = kept_programs->emplace_back(Kept{
        .program = program, .code = {code, code + bpf_program__insn_cnt(program)}, .options = *options, .loaded = {}});
    kept.options.sz = sizeof(kept.options);  // a newer libbpf's may be larger
    // They describe the program, not its placeholder.
    options->prog_btf_fd = 0;
    options->func_info_cnt = 0;
    options->line_info_cnt = 0;
    return bpf_program__set_insns(program, placeholder.data(), placeholder.size());
}

void load(Kept& kept) {
    kept.loaded = sys::Fd(bpf_prog_load(bpf_program__type(kept.program), bpf_program__name(kept.program), "GPL",
                                        kept.code.data(), kept.code.size(), &kept.options));
}

void load_all(std::vector<Kept>& programs) {
    // The large ones first, so that none of them is left when all others are done.
    std::sort(programs.begin(), programs.end(),
              [](const Kept& left, const Kept& right) { return left.code.size() > right.code.size(); });
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < programs.size(); i = next++) {
            load(programs[i]);
        }
    };
    const auto threads = std::min<std::size_t>({std::thread::hardware_concurrency(), programs.size(), most_threads});
    std::vector<std::jthread> others;
    try {
        while (others.size() + 1 < threads) {
            others.emplace_back(work);
        }
    } catch (const std::system_error&) {  // then with those there are
    }
    work();
}

}  // namespace

void prepare_to_verify_together() {
    // Once: programs of objects that are open point to what libbpf registered.
    static const bool prepared = [] {
        libbpf_prog_handler_opts options{};
        options.sz = sizeof(options);
        options.prog_prepare_load_fn = keep;
        (void)libbpf_register_prog_handler("tp_btf+", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, &options);
        (void)libbpf_register_prog_handler("fentry+", BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, &options);
        (void)libbpf_register_prog_handler("iter+", BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, &options);
        (void)libbpf_register_prog_handler("syscall", BPF_PROG_TYPE_SYSCALL, bpf_attach_type(), &options);
        return true;
    }();
    (void)prepared;
}

void set_targets(const evictd_bpf& skeleton, const Choice& choice) {
    for (const auto* candidate : choice.chosen) {
        bpf_program* program = bpf_object__find_program_by_name(skeleton.obj, candidate->program);
        if (bpf_program__type(program) == BPF_PROG_TYPE_TRACING) {
            (void)bpf_program__set_attach_target(program, 0, candidate->target);
        }
    }
}

bool verify_together(evictd_bpf& skeleton) {
    std::vector<Kept> programs;
    kept_programs = &programs;
    const int error = evictd_bpf__load(&skeleton);
    kept_programs = nullptr;
    if (error != 0) {
        return false;
    }
    load_all(programs);
    return std::all_of(programs.begin(), programs.end(), [](const Kept& kept) {
        return kept.loaded && dup3(kept.loaded.get(), bpf_program__fd(kept.program), O_CLOEXEC) >= 0;
    });
}

}  // namespace evictd::kernel

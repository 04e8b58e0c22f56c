// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which program feeds which hook on this kernel: a table of candidates, best first, each asked of the kernel and never
// guessed from its version. Loading them is bpf.hpp's.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "evictd/model/result.hpp"
#include "evictd/model/signal_source.hpp"
#include "kernel/libbpf_log.hpp"

struct btf;

namespace evictd::kernel {

enum class Attach : std::uint8_t { tracepoint, fentry, iterator, timer, cgroup };

// What programs feed. All three are required.
struct Hook {
    constexpr Hook(const char* its_name, const char* its_purpose, const char* lost_without)
        : name(its_name), purpose(its_purpose), lost(lost_without) {}
    const char* name;     // "oom": SourceRow::hook
    const char* purpose;  // for people, as is the next
    const char* lost;     // where no program feeds it
};

// One way to feed a hook. Rows of one hook with the same `group` but 0 stand together and are taken together or not at
// all.
struct Candidate {
    Hook hook;
    const char* program;  // its name in bpf/
    Attach attach;
    const char* target;  // the kernel's name: tracepoint, function, a cgroup's hook
    const char*
        first_argument;  // of a tracepoint whose arguments differ between kernels: the struct it must be; else null
    const char* note;    // what is lost with it, for people; "" for the best
    bool on_demand;      // attached only while Bpf's owner asks for it
    int group;
};

[[nodiscard]] const std::vector<Candidate>& candidates();
// Those of candidates(), each once.
[[nodiscard]] std::vector<Hook> hooks();

struct Choice {
    std::vector<const Candidate*> chosen;   // one, or one group, for each hook that can be fed
    std::vector<SourceRow> rows;            // one for each hook
    std::vector<Refusal> refused;           // programs that were not taken though their hook is there
    bool has_rdonly_cast = false;           // programs can read kernel memory by loads (bpf/lib/load.bpf.h)
    std::shared_ptr<const btf> kernel_btf;  // megabytes: gone once the programs are loaded
};

[[nodiscard]] bool feeds(const Choice& choice, std::string_view hook);

// Tries candidates by loading a program of two instructions at each hook; those `refused` are not taken. A hook that
// nothing feeds falls back alone. Fails where BPF cannot be had at all.
[[nodiscard]] Result<Choice> choose_programs(std::vector<Refusal> refused = {});
// Once more, after the kernel refused one of the programs chosen. Fails if it is none of them.
[[nodiscard]] Result<Choice> choose_without(const Choice& choice, Refusal refusal);

}  // namespace evictd::kernel

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Loads the programs of a choice, and does without those that the kernel refuses. libbpf loads all programs of an
// object or none: after a refusal the object is opened and loaded again without that program and its group, so that one
// failure costs one hook.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "evictd/model/result.hpp"
#include "kernel/programs.hpp"

struct bpf_program;
struct evictd_bpf;

namespace evictd::kernel {

struct FreeSkeleton {
    void operator()(evictd_bpf* skeleton) const;
};

struct LoadedPrograms {
    std::unique_ptr<evictd_bpf, FreeSkeleton> skeleton;
    Choice choice;          // what was loaded, and `refused`
    bool together = false;  // whether verify_together() did it
};

// `btf`: a file to relocate the programs by, for tests; empty: the running kernel's. All programs are relocated by an
// excerpt of it and verified together. If that fails, by the whole of it and one after the other, as many turns as
// there are refusals and one more. Fails where the object cannot be loaded for a reason that is no program's.
[[nodiscard]] Result<LoadedPrograms> load_programs(Choice choice, const std::string& btf = {});

// The object file within this program, 290 KiB: read while programs are loaded and never again.
[[nodiscard]] std::span<const std::byte> bpf_object_file();

// The program by its name in bpf/, loaded or not.
[[nodiscard]] bpf_program* find_program(const LoadedPrograms& loaded, const char* name);

[[nodiscard]] tl::unexpected<Error> bpf_error(const std::string& what, int error);

}  // namespace evictd::kernel

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/loader.hpp"

#include <cerrno>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <evictd/skeleton.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/kernel_btf.hpp"
#include "kernel/libbpf_log.hpp"
#include "kernel/proc_files.hpp"
#include "kernel/verify_together.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {
namespace {

using Skeleton = std::unique_ptr<evictd_bpf, FreeSkeleton>;

// libbpf looks for a function that the kernel does not have in the BTF of its modules. Up to 1.3 it fails where it may
// not list them, without CAP_SYS_ADMIN, also if the program can do without the function. It lists them once, so that
// the attempt for a target that no kernel has is the one that fails.
void list_modules_in_vain(bpf_object* object) {
    bpf_program* first = bpf_object__next_program(object, nullptr);
    (void)bpf_program__set_attach_target(first, 0, "evictd_has_no_such_target");
}

Skeleton open_object(const std::string& btf) {
    prepare_to_verify_together();
    bpf_object_open_opts options{};
    options.sz = sizeof(options);
    options.btf_custom_path = btf.empty() ? nullptr : btf.c_str();
    return Skeleton(evictd_bpf__open_opts(&options));
}

// Of all programs, those that were chosen are loaded.
void choose_in(evictd_bpf& skeleton, const Choice& choice, bool has_rdonly_cast) {
    std::set<std::string_view> wanted;
    for (const auto* candidate : choice.chosen) {
        wanted.insert(candidate->program);
    }
    skeleton.rodata->page_size = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    skeleton.rodata->numa_nodes = possible_numa_nodes();
    skeleton.rodata->has_rdonly_cast = has_rdonly_cast ? 1 : 0;
    skeleton.rodata->oom_is_told = wanted.contains("on_oom_kill_process") ? 1 : 0;
    if (!choice.has_rdonly_cast) {
        list_modules_in_vain(skeleton.obj);
    }
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, skeleton.obj) {
        bpf_program__set_autoload(program, wanted.contains(bpf_program__name(program)));
    }
    set_targets(skeleton, choice);
}

// The file that CO-RE is to read instead of the kernel's types. `kernel` is released here if the caller gives it away:
// libbpf reads all types again to load a program.
bool write_excerpt(const sys::Fd& file, const evictd_bpf& skeleton, const std::shared_ptr<const btf>& kernel) {
    const Btf excerpt(kernel ? excerpt_for(bpf_object__btf(skeleton.obj), kernel.get()) : nullptr);
    std::uint32_t size = 0;
    const auto* data = excerpt ? static_cast<const char*>(btf__raw_data(excerpt.get(), &size)) : nullptr;
    return data != nullptr && sys::write_text(file.get(), {data, size});
}

// From the beginning and by libbpf alone, which tells what the kernel does not take.
Result<LoadedPrograms> load_in_turns(Choice choice, const std::string& btf) {
    bool has_rdonly_cast = choice.has_rdonly_cast;
    // Every turn refuses one program more, but the one after the kernel took no cast.
    for (std::size_t turn = 0; turn <= candidates().size() + 1; turn++) {
        choice.kernel_btf.reset();
        const LibbpfLog log;
        auto skeleton = open_object(btf);
        if (!skeleton) {
            return bpf_error("open", errno);
        }
        choose_in(*skeleton, choice, has_rdonly_cast);
        const int error = evictd_bpf__load(skeleton.get());
        if (error == 0) {
            return LoadedPrograms{.skeleton = std::move(skeleton), .choice = std::move(choice), .together = false};
        }
        // Should its verifier refuse what is read that way: by calls, as on older kernels.
        if (has_rdonly_cast) {
            has_rdonly_cast = false;
            continue;
        }
        auto refusal = refusal_in(log.text());
        if (!refusal) {
            const auto said = last_line(log.text());
            return bpf_error(said.empty() ? "load" : "load: " + said, -error);
        }
        auto next = choose_without(choice, std::move(*refusal));
        if (!next) {
            return tl::unexpected(next.error());
        }
        choice = std::move(*next);
    }
    return bpf_error("load", EINVAL);
}

}  // namespace

void FreeSkeleton::operator()(evictd_bpf* skeleton) const { evictd_bpf__destroy(skeleton); }

std::span<const std::byte> bpf_object_file() {
    std::size_t size = 0;
    const void* file = evictd_bpf__elf_bytes(&size);
    return {static_cast<const std::byte*>(file), size};
}

tl::unexpected<Error> bpf_error(const std::string& what, int error) {
    const auto kind = error == EPERM || error == EACCES ? ErrorKind::not_permitted : ErrorKind::failed;
    return fail(kind, "BPF " + what, std::strerror(error), "evictd doctor tells what this kernel takes");
}

Result<LoadedPrograms> load_programs(Choice choice, const std::string& btf) {
    if (!btf.empty()) {
        choice.kernel_btf = Btf(btf__parse(btf.c_str(), nullptr));
    }
    const sys::Fd excerpt(memfd_create("evictd_btf", MFD_CLOEXEC));
    auto skeleton = open_object("/proc/self/fd/" + std::to_string(excerpt.get()));
    if (!skeleton) {
        return bpf_error("open", errno);
    }
    const bool has_excerpt = write_excerpt(excerpt, *skeleton, std::exchange(choice.kernel_btf, nullptr));
    choose_in(*skeleton, choice, choice.has_rdonly_cast);
    if (has_excerpt && verify_together(*skeleton)) {
        return LoadedPrograms{.skeleton = std::move(skeleton), .choice = std::move(choice), .together = true};
    }
    skeleton.reset();
    return load_in_turns(std::move(choice), btf);
}

bpf_program* find_program(const LoadedPrograms& loaded, const char* name) {
    return bpf_object__find_program_by_name(loaded.skeleton->obj, name);
}

}  // namespace evictd::kernel

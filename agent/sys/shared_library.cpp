// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/shared_library.hpp"

#include <mutex>
#include <set>
#include <span>

#include <dlfcn.h>
#include <link.h>

#include "sys/program_code.hpp"

namespace evictd::sys {
namespace {

using Objects = std::set<ElfW(Addr)>;  // by where they lie

std::mutex loading;
Objects loaded_later;  // under it

Objects all_objects() {
    Objects objects;
    (void)dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t /*size*/, void* found) {
            static_cast<Objects*>(found)->insert(object->dlpi_addr);
            return 0;
        },
        &objects);
    return objects;
}

void* load_and_note(const char* file) {
    const std::scoped_lock lock(loading);
    const auto before = all_objects();
    void* handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    for (const auto object : all_objects()) {
        if (!before.contains(object)) loaded_later.insert(object);
    }
    return handle;
}

void give_back_object(const dl_phdr_info& object) {
    for (const auto& segment : std::span(object.dlpi_phdr, object.dlpi_phnum)) {
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
        // The dynamic linker gives addresses, not pointers. NOLINTNEXTLINE(performance-no-int-to-ptr)
        const auto* begin = reinterpret_cast<const std::byte*>(object.dlpi_addr + segment.p_vaddr);
        give_back({begin, segment.p_memsz});
    }
}

}  // namespace

void give_back_libraries() {
    const std::scoped_lock lock(loading);
    (void)dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t /*size*/, void* /*data*/) {
            if (loaded_later.contains(object->dlpi_addr)) give_back_object(*object);
            return 0;
        },
        nullptr);
}

Result<SharedLibrary> SharedLibrary::load(const char* file, const char* remedy) {
    void* handle = load_and_note(file);
    if (handle == nullptr) {
        const char* why = dlerror();  // NOLINT(concurrency-mt-unsafe): of this thread, in glibc
        return fail(ErrorKind::failed, file, why != nullptr ? why : "cannot be loaded", remedy);
    }
    return SharedLibrary(handle, file, remedy);
}

void* SharedLibrary::symbol(const char* name) {
    void* found = dlsym(handle_, name);
    if (found == nullptr && missing_.empty()) missing_ = name;
    return found;
}

Status SharedLibrary::check() const {
    return missing_.empty() ? Status{} : Status(fail(ErrorKind::failed, file_, "has no " + missing_, remedy_));
}

}  // namespace evictd::sys

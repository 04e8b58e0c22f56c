// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/shared_library.hpp"

#include <dlfcn.h>

namespace evictd::sys {

Result<SharedLibrary> SharedLibrary::load(const char* file, const char* remedy) {
    void* handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
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

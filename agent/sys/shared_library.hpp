// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A shared library that is loaded when it is first needed (dlopen(3)): what it and its own libraries take of memory is
// saved where it is not. For adapters that wrap one library each.
#pragma once

#include <string>

#include "evictd/model/result.hpp"

namespace evictd::sys {

// Loaded until the program ends: threads and atexit() handlers of a library do not survive its unloading.
class SharedLibrary {
public:
    // `file` as the linker names it, such as "libcurl.so.4"; `remedy` for the error message.
    [[nodiscard]] static Result<SharedLibrary> load(const char* file, const char* remedy);

    // After all of them, check().
    template <class Function>
    void find(const char* name, Function*& function) {
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): POSIX's way from dlsym() to a function
        function = reinterpret_cast<Function*>(symbol(name));
    }
    // Error: a function that was looked for is missing, as in another version.
    [[nodiscard]] Status check() const;

private:
    SharedLibrary(void* handle, const char* file, const char* remedy) : handle_(handle), file_(file), remedy_(remedy) {}
    void* symbol(const char* name);

    void* handle_;
    const char* file_;
    const char* remedy_;
    std::string missing_;
};

// Takes the code and constants of all libraries that were loaded so, and of those that they brought along, out of
// memory, for once: most of it runs only while a library starts and a first connection is made, 4 to 6 MiB with TLS.
// As give_back() of sys/program_code.hpp.
void give_back_libraries();

}  // namespace evictd::sys

// SPDX-License-Identifier: Apache-2.0
#include "act/memory_file.hpp"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include "sys/fd.hpp"
#include "sys/file.hpp"

namespace evictd::act {

std::string boot_id() {
    auto text = sys::read_file("/proc/sys/kernel/random/boot_id", 4096).value_or("");
    text.erase(text.find_last_not_of('\n') + 1);
    return text;
}

Status remember_text(const std::string& path, const std::string& text) {
    if (text.empty()) {
        return ::unlink(path.c_str()) == 0 || errno == ENOENT ? Status{} : sys::fail_errno(path, errno);
    }
    if (auto made = sys::make_directories(path.substr(0, path.rfind('/')), 0755); !made) {
        return made;
    }
    const std::string fresh = path + ".new";
    auto file = sys::open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    auto written = file ? sys::write_text(file->get(), text) : tl::unexpected<Error>(file.error());
    if (written && ::rename(fresh.c_str(), path.c_str()) != 0) {
        return sys::fail_errno(path, errno);
    }
    return written;
}

}  // namespace evictd::act

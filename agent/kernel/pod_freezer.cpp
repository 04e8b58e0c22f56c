// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// CgroupHandle's freezer.
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include <fcntl.h>

#include "kernel/cgroup_walk.hpp"
#include "kernel/pod_cgroup.hpp"
#include "kernel/process_lists.hpp"
#include "kernel/usage_files.hpp"

namespace evictd::kernel {
namespace {

// Until the tasks of a frozen cgroup have been seen by the freezer: some 100 us, unless one waits in the kernel.
constexpr int freezer_looks = 50;
constexpr auto freezer_pause = std::chrono::microseconds(100);

Status write_file_at(int directory, const char* name, std::string_view text) {
    auto file = sys::openat(directory, name, O_WRONLY);
    return file ? sys::write_text(file->get(), text) : tl::unexpected<Error>(file.error());
}

}  // namespace

// By path each time, because who hears of the memory controller's directory may not find the freezer's yet. The memory
// cgroup that we hold is still there, so no other one bears the name.
Result<sys::Fd> CgroupHandle::open_freezer() const {
    auto alive = sys::openat(memory_.get(), v2_ ? "." : "cgroup.procs", v2_ ? directory_flags : O_RDONLY);
    return v2_ || !alive ? std::move(alive) : sys::open(freezer_, directory_flags);
}

Status CgroupHandle::freeze() const {
    const auto directory = open_freezer();
    if (!directory) {
        return tl::unexpected(directory.error());
    }
    auto written = v2_ ? write_file_at(directory->get(), "cgroup.freeze", "1")
                       : write_file_at(directory->get(), "freezer.state", "FROZEN");
    return written ? await_frozen(directory->get()) : written;
}

// A task that waits in the kernel keeps the cgroup from being frozen as a whole; it cannot fork or move either.
Status CgroupHandle::await_frozen(int directory) const {
    for (int look = 0; look < freezer_looks; look++) {
        const auto text = read_file_at(directory, v2_ ? "cgroup.events" : "freezer.state");
        if (!text) {
            return tl::unexpected(text.error());
        }
        if (v2_ ? flat_value(*text, "frozen") != 0 : text->starts_with("FROZEN")) {
            break;
        }
        std::this_thread::sleep_for(freezer_pause);
    }
    return {};
}

Status CgroupHandle::thaw() const {
    const auto directory = open_freezer();
    if (!directory) {
        return tl::unexpected(directory.error());
    }
    std::optional<Status> result;  // the pod's own, which comes first
    auto walked = walk_cgroups(directory->get(), [&](int below) {
        auto written =
            v2_ ? write_file_at(below, "cgroup.freeze", "0") : write_file_at(below, "freezer.state", "THAWED");
        if (!result) {
            result = std::move(written);
        }
        return Walk::on;
    });
    return *result ? walked : *result;
}

}  // namespace evictd::kernel

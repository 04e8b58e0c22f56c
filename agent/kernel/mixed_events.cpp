// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/mixed_events.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/epoll.h>

namespace evictd::kernel {

Result<std::unique_ptr<MixedEvents>> MixedEvents::make(std::unique_ptr<BpfEvents> programs,
                                                       std::unique_ptr<FileEvents> files) {
    sys::Fd epoll(epoll_create1(EPOLL_CLOEXEC));
    epoll_event readable{};
    readable.events = EPOLLIN;
    for (const int fd : {programs->fd(), files->fd()}) {
        if (!epoll || epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &readable) != 0) {
            return sys::fail_errno("epoll", errno);
        }
    }
    return std::unique_ptr<MixedEvents>(new MixedEvents(std::move(programs), std::move(files), std::move(epoll)));
}

Status MixedEvents::count_memory(MemoryAvailable counted) {
    auto told = programs_->count_memory(counted);
    auto armed = files_->count_memory(counted);
    return told ? armed : told;
}

// An OOM kill first: what it says explains why a level was crossed back.
void MixedEvents::drain(const Sink& sink) {
    programs_->drain(sink);
    files_->drain(sink);
}

Status MixedEvents::follow(const std::optional<port::PodsRoot>& root) {
    auto followed = programs_->follow(root);
    auto armed = files_->follow(root);
    return followed ? armed : followed;
}

std::vector<SourceRow> MixedEvents::sources() const {
    auto rows = programs_->sources();
    const auto of_files = files_->sources();
    for (auto& row : rows) {
        const bool from_files = row.chosen.empty() && (row.hook == "watermark" || row.hook == "stall");
        const auto file = std::find_if(of_files.begin(), of_files.end(),
                                       [&](const SourceRow& other) { return other.hook == row.hook; });
        if (from_files && file != of_files.end()) {
            row.chosen = file->chosen;
            row.fallback = true;
        }
    }
    return rows;
}

}  // namespace evictd::kernel

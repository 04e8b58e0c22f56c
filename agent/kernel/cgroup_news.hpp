// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods' cgroups that come and go.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/kernel_event.hpp"
#include "evictd/model/signal_source.hpp"
#include "evictd/port/cgroups.hpp"

namespace evictd::kernel {

class CgroupNews {
public:
    using Sink = std::function<void(const KernelEvent&)>;

    CgroupNews() = default;
    CgroupNews(const CgroupNews&) = delete;
    CgroupNews& operator=(const CgroupNews&) = delete;
    virtual ~CgroupNews() = default;

    [[nodiscard]] virtual bool works() const = 0;
    // Readable when there is something to drain(); -1: nothing ever is.
    [[nodiscard]] virtual int fd() const = 0;
    // Tells of what is below `root` from now on, and that it is removed itself; none: of what could become the root.
    // What is there already is not told.
    virtual void follow(const std::optional<port::PodsRoot>& root) = 0;
    // CgroupLife made and removed, in the order in which it happened, stamped with the time of reading; EventsLost when
    // the kernel's queue overflowed.
    virtual void drain(const Sink& sink) = 0;
    // What feeds the hooks cgroup_made and cgroup_removed, for doctor and status.
    [[nodiscard]] virtual std::vector<SourceRow> rows() const = 0;
};

// Rows of a source that reads inotify. `refusal`: why it does not work.
[[nodiscard]] std::vector<SourceRow> cgroup_rows(bool works, const std::string& refusal);

}  // namespace evictd::kernel

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods' cgroups that come and go, told by inotify on the two levels of directories that pods are made in. The kernel's
// tracepoints tell the same, but format the path of every cgroup that is made or removed on the machine, before they
// ask whether anybody cares: containers that run services of their own would pay for it. Who dies is not told here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "evictd/model/kernel_event.hpp"
#include "evictd/model/signal_source.hpp"
#include "evictd/port/cgroups.hpp"
#include "kernel/cgroup_news.hpp"
#include "sys/clock.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {

class CgroupWatch final : public CgroupNews {
public:
    // `mount`: of the memory hierarchy. `roots`: where below it the pods' root may appear, while there is none. A node
    // without an inotify instance to spare is no error: then nothing is reported, works() is false and row() says why.
    CgroupWatch(std::string mount, std::vector<std::string> roots, const sys::Clock& clock);
    // Tells nothing: another one does.
    explicit CgroupWatch(const sys::Clock& clock) : clock_(clock) {}

    [[nodiscard]] bool works() const override { return inotify_.valid(); }
    [[nodiscard]] int fd() const override { return inotify_.get(); }
    void follow(const std::optional<port::PodsRoot>& root) override;
    void drain(const Sink& sink) override;
    [[nodiscard]] std::vector<SourceRow> rows() const override;

private:
    struct Event {
        int watch = -1;
        std::uint32_t mask = 0;
        std::string name;
    };
    void watch(const std::string& path);
    void watch_ways();
    void watch_pods(const std::string& path, const Sink* sink);
    [[nodiscard]] std::vector<Event> read_events();
    void take(const Event& event, const Sink& sink);
    void made(const std::string& path, const Sink& sink);
    void removed(const std::string& path, const Sink& sink);
    void tell(const Sink& sink, CgroupChange change, CgroupId id, const std::string& path) const;

    std::string mount_;
    std::vector<std::string> roots_;
    const sys::Clock& clock_;
    sys::Fd inotify_;
    std::string refusal_;  // why it does not work
    std::optional<port::PodsRoot> root_;
    std::map<int, std::string> watched_;               // path below the mount, by watch descriptor
    std::unordered_map<std::string, CgroupId> known_;  // by path: a removal says the name only
};

}  // namespace evictd::kernel

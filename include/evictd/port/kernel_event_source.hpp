// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kernel's events, however they are had: BPF's ring buffer, or eventfd, PSI triggers and files where BPF is
// refused.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "evictd/model/kernel_event.hpp"
#include "evictd/model/kernel_watch.hpp"
#include "evictd/model/next_look.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/signal_source.hpp"
#include "evictd/port/cgroups.hpp"

namespace evictd::port {

// A pod of the last look, with its place in the victim order.
struct ShownPod {
    const ObservedPod* observed = nullptr;
    Amount request;
    std::uint32_t victim_rank = 0;  // 1 goes first; 0: it may not be evicted
};

class KernelEventSource {
public:
    using Sink = std::function<void(const KernelEvent&)>;

    KernelEventSource() = default;
    KernelEventSource(const KernelEventSource&) = delete;
    KernelEventSource& operator=(const KernelEventSource&) = delete;
    virtual ~KernelEventSource() = default;

    // Replaces all watermarks. Each starts unarmed: the first comparison reports those already crossed.
    virtual Status watch(std::span<const Watermark> watermarks) = 0;
    // How what is available is counted for the watermarks from now on; the kubelet's way until it is said.
    virtual Status count_memory(MemoryAvailable /*counted*/) { return {}; }
    // Replaces all lines on stalls, where the kernel can watch any; else looking has to do.
    virtual Status watch_stalls(std::span<const StallLine> /*lines*/) { return {}; }
    [[nodiscard]] virtual bool watches_stalls() const { return false; }
    // The pods, each with a cgroup, that the kernel's programs know from now on: whose stalls are counted, and who is
    // named in what they report. What the pointers refer to is needed for the call only.
    virtual Status show_pods(std::span<const ShownPod> /*pods*/) { return {}; }
    // Readable when there is something to drain().
    [[nodiscard]] virtual int fd() const = 0;
    // Whether an event of the kernel's programs is pending for drain(). Polls without sleeping until `until`, because
    // waking a sleeping thread takes time; polls once if the thread has no real-time priority or only one CPU. False if
    // the source cannot be polled.
    [[nodiscard]] virtual bool await(MonotonicTime /*until*/) { return false; }
    // Hands over everything pending, oldest first, without blocking; lost events are events too.
    virtual void drain(const Sink& sink) = 0;
    // The pods' root to watch; none: there is none yet, and any cgroup that could be it is reported when made.
    virtual Status follow(const std::optional<PodsRoot>& root) = 0;
    // Whether pods' cgroups that come and go are reported. If not, list them at each look.
    [[nodiscard]] virtual bool tells_of_pods() const = 0;
    // Whether a cgroup that fills or empties is reported at once. Off at first: every such cgroup on the machine pays
    // for it.
    virtual Status watch_exits(bool on) = 0;
    // How soon the agent has to look by itself. None: every crossing is reported.
    [[nodiscard]] virtual std::optional<TimedLooks> timed_looks() const = 0;
    // What feeds each hook, for doctor and status.
    [[nodiscard]] virtual std::vector<SourceRow> sources() const = 0;
};

}  // namespace evictd::port

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/bpf_events.hpp"

#include <cerrno>
#include <utility>

#include <bpf/libbpf.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>

#include "kernel/decode.hpp"
#include "kernel/pod_entry.hpp"
#include "sys/clock.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {

namespace {

// With one CPU, spinning would keep every other process from running, also one that is being killed. And a thread
// without real-time priority would use up its share of the CPU that it needs in a moment.
bool may_spin() {
    const int policy = ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    cpu_set_t cpus;
    return (policy == SCHED_FIFO || policy == SCHED_RR) &&
           (::sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || CPU_COUNT(&cpus) > 1);
}

}  // namespace

void BpfEvents::FreeRing::operator()(ring_buffer* ring) const { ring_buffer__free(ring); }

Result<std::unique_ptr<BpfEvents>> BpfEvents::make(Bpf& bpf, std::unique_ptr<CgroupNews> cgroups) {
    std::unique_ptr<BpfEvents> events(new BpfEvents(bpf, std::move(cgroups)));
    events->ring_.reset(ring_buffer__new(bpf.events_map(), &BpfEvents::on_record, events.get(), nullptr));
    if (!events->ring_) {
        return sys::fail_errno("BPF ring buffer", errno);
    }
    // libbpf's own epoll set waits for both; drain() does not ask it what is ready.
    epoll_event readable{};
    readable.events = EPOLLIN;
    if (events->cgroups_->works() &&
        epoll_ctl(ring_buffer__epoll_fd(events->ring_.get()), EPOLL_CTL_ADD, events->cgroups_->fd(), &readable) != 0) {
        return sys::fail_errno("epoll", errno);
    }
    return events;
}

Status BpfEvents::watch(std::span<const Watermark> watermarks) {
    std::vector<evictd_watermark> lines;
    lines.reserve(watermarks.size());
    for (const auto& watermark : watermarks) {
        evictd_watermark line{};
        line.threshold = static_cast<std::uint64_t>(watermark.threshold.value);
        line.signal =
            watermark.signal == Signal::memory_available ? EVICTD_SIGNAL_NODE_MEMORY : EVICTD_SIGNAL_PODS_MEMORY;
        line.state = EVICTD_WATERMARK_UNKNOWN;
        lines.push_back(line);
    }
    return bpf_.set_thresholds(lines);
}

Status BpfEvents::follow(const std::optional<port::PodsRoot>& root) {
    cgroups_->follow(root);
    return bpf_.follow(root);
}

std::vector<SourceRow> BpfEvents::sources() const {
    auto rows = bpf_.rows();
    for (auto& row : rows) {
        if (row.hook == "usage" && !bpf_.feeds(row.hook)) {
            row.chosen = "control files";
            row.fallback = true;
        }
    }
    const auto pods = cgroups_->rows();
    rows.insert(rows.end(), pods.begin(), pods.end());
    return rows;
}

Status BpfEvents::watch_stalls(std::span<const StallLine> lines) {
    if (bpf_.stalls() == nullptr) {
        return {};
    }
    std::vector<evictd_stall_line> watched;
    watched.reserve(lines.size());
    for (const auto& line : lines) {
        evictd_stall_line one{};
        one.lost_ns = static_cast<std::uint64_t>(line.lost.count());
        one.window = static_cast<evictd_stall_window>(line.window);
        one.scope = line.scope == StallScope::node ? EVICTD_STALL_NODE : EVICTD_STALL_POD;
        watched.push_back(one);
    }
    return bpf_.stalls()->watch(watched);
}

Status BpfEvents::show_pods(std::span<const port::ShownPod> pods) {
    std::vector<std::pair<CgroupId, evictd_pod>> entries;
    entries.reserve(pods.size());
    for (const auto& pod : pods) {
        entries.emplace_back(pod.observed->cgroup, entry_of(pod));
    }
    return bpf_.show_pods(entries);
}

// Polls the map's own descriptor: libbpf's epoll set is readable only after the wake-up.
bool BpfEvents::await(MonotonicTime until) {
    const sys::SystemClock clock;
    pollfd ring{.fd = bpf_.events_map(), .events = POLLIN, .revents = 0};
    const bool spins = clock.monotonic() < until && may_spin();
    do {
        if (::poll(&ring, 1, 0) > 0) {
            return true;
        }
    } while (spins && clock.monotonic() < until);
    return false;
}

int BpfEvents::fd() const { return ring_buffer__epoll_fd(ring_.get()); }

int BpfEvents::on_record(void* self, void* record, std::size_t size) {
    auto& events = *static_cast<BpfEvents*>(self);
    if (auto event = decode_event({static_cast<const std::byte*>(record), size})) {
        events.last_time_ = event->time;
        (*events.sink_)(*event);
    } else {
        events.undecodable_++;
    }
    return 0;
}

void BpfEvents::drain(const Sink& sink) {
    sink_ = &sink;
    (void)ring_buffer__consume(ring_.get());  // negative only if the callback says so, and ours never does
    sink_ = nullptr;
    cgroups_->drain([&](const KernelEvent& event) {
        const auto* life = std::get_if<CgroupLife>(&event.kind);
        if (life != nullptr && life->change == CgroupChange::removed) {
            bpf_.sockets().forget(life->cgroup);
        }
        sink(event);
    });
    report_lost(sink);
}

void BpfEvents::report_lost(const Sink& sink) {
    const evictd_drops now = bpf_.drops();
    for (auto& lost : lost_between(told_, now)) {
        sink(KernelEvent{last_time_, std::move(lost)});
    }
    if (undecodable_ > undecodable_told_) {
        sink(KernelEvent{last_time_, EventsLost{loss::undecodable, undecodable_ - undecodable_told_}});
    }
    told_ = now;
    undecodable_told_ = undecodable_;
}

}  // namespace evictd::kernel

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Kernel events from BPF's ring buffer. Every record lost on the way becomes an event itself.
#pragma once

#include <memory>
#include <vector>

#include "evictd/abi/settings.h"
#include "evictd/port/kernel_event_source.hpp"
#include "kernel/bpf.hpp"
#include "kernel/cgroup_news.hpp"

struct ring_buffer;

namespace evictd::kernel {

class BpfEvents final : public port::KernelEventSource {
public:
    // `bpf` must outlive it.
    static Result<std::unique_ptr<BpfEvents>> make(Bpf& bpf, std::unique_ptr<CgroupNews> cgroups);

    Status watch(std::span<const Watermark> watermarks) override;
    Status count_memory(MemoryAvailable counted) override { return bpf_.count_memory(counted); }
    Status watch_stalls(std::span<const StallLine> lines) override;
    [[nodiscard]] bool watches_stalls() const override { return bpf_.stalls() != nullptr; }
    Status show_pods(std::span<const port::ShownPod> pods) override;
    [[nodiscard]] int fd() const override;
    [[nodiscard]] bool await(MonotonicTime until) override;
    void drain(const Sink& sink) override;
    Status follow(const std::optional<port::PodsRoot>& root) override;
    [[nodiscard]] bool tells_of_pods() const override { return cgroups_->works(); }
    Status watch_exits(bool on) override { return bpf_.watch_exits(on); }
    [[nodiscard]] std::optional<TimedLooks> timed_looks() const override { return std::nullopt; }
    [[nodiscard]] std::vector<SourceRow> sources() const override;

private:
    struct FreeRing {
        void operator()(ring_buffer* ring) const;
    };
    BpfEvents(Bpf& bpf, std::unique_ptr<CgroupNews> cgroups) : bpf_(bpf), cgroups_(std::move(cgroups)) {}
    static int on_record(void* self, void* record, std::size_t size);
    void report_lost(const Sink& sink);

    Bpf& bpf_;
    std::unique_ptr<CgroupNews> cgroups_;
    std::unique_ptr<ring_buffer, FreeRing> ring_;
    const Sink* sink_ = nullptr;  // while draining
    MonotonicTime last_time_;
    std::uint64_t undecodable_ = 0;
    std::uint64_t undecodable_told_ = 0;
    evictd_drops told_{};
};

}  // namespace evictd::kernel

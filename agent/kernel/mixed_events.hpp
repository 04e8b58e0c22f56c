// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Where the kernel takes some of the programs but not the timer: thresholds are watched by files and timed looks as
// without BPF, the programs report everything else.
#pragma once

#include <memory>

#include "evictd/port/kernel_event_source.hpp"
#include "kernel/bpf_events.hpp"
#include "kernel/file_events.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {

class MixedEvents final : public port::KernelEventSource {
public:
    // `programs` tells of pods' cgroups, `files` must not.
    static Result<std::unique_ptr<MixedEvents>> make(std::unique_ptr<BpfEvents> programs,
                                                     std::unique_ptr<FileEvents> files);

    Status watch(std::span<const Watermark> watermarks) override { return files_->watch(watermarks); }
    Status count_memory(MemoryAvailable counted) override;
    Status watch_stalls(std::span<const StallLine> lines) override { return programs_->watch_stalls(lines); }
    [[nodiscard]] bool watches_stalls() const override { return programs_->watches_stalls(); }
    Status show_pods(std::span<const port::ShownPod> pods) override { return programs_->show_pods(pods); }
    [[nodiscard]] int fd() const override { return epoll_.get(); }
    void drain(const Sink& sink) override;
    Status follow(const std::optional<port::PodsRoot>& root) override;
    [[nodiscard]] bool tells_of_pods() const override { return programs_->tells_of_pods(); }
    Status watch_exits(bool on) override { return programs_->watch_exits(on); }
    [[nodiscard]] std::optional<TimedLooks> timed_looks() const override { return files_->timed_looks(); }
    [[nodiscard]] std::vector<SourceRow> sources() const override;

private:
    MixedEvents(std::unique_ptr<BpfEvents> programs, std::unique_ptr<FileEvents> files, sys::Fd epoll)
        : programs_(std::move(programs)), files_(std::move(files)), epoll_(std::move(epoll)) {}

    std::unique_ptr<BpfEvents> programs_;
    std::unique_ptr<FileEvents> files_;
    sys::Fd epoll_;  // of both
};

}  // namespace evictd::kernel

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Being told without BPF: v1 usage thresholds by eventfd, v2 memory.events, PSI triggers. None of them is exact, so the
// agent looks by itself as well; the policy is the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evictd/port/kernel_event_source.hpp"
#include "kernel/cgroup_news.hpp"
#include "kernel/hierarchies.hpp"
#include "sys/clock.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {

class FileEvents final : public port::KernelEventSource {
public:
    // `why`: the reason for which BPF is not used. `clock` must outlive it.
    static Result<std::unique_ptr<FileEvents>> make(Hierarchies hierarchies, std::unique_ptr<CgroupNews> cgroups,
                                                    const sys::Clock& clock, std::string why);

    Status watch(std::span<const Watermark> watermarks) override;
    Status count_memory(MemoryAvailable counted) override;
    [[nodiscard]] int fd() const override { return epoll_.get(); }
    void drain(const Sink& sink) override;
    Status follow(const std::optional<port::PodsRoot>& root) override;
    [[nodiscard]] bool tells_of_pods() const override { return cgroups_->works(); }
    Status watch_exits(bool /*on*/) override { return {}; }  // the timed look counts processes
    [[nodiscard]] std::optional<TimedLooks> timed_looks() const override;
    [[nodiscard]] std::vector<SourceRow> sources() const override;

private:
    struct Watched {
        std::string file;                    // for people
        sys::Fd fd;                          // what epoll watches
        sys::Fd counter;                     // v1: memory.usage_in_bytes, which the eventfd refers to
        std::optional<Watermark> watermark;  // v1: what the level stands for
        std::int64_t level = 0;              // v1: bytes of usage at which the eventfd is written to
        Duration rest{0};                    // between two reports
        MonotonicTime told_at;
    };
    FileEvents(Hierarchies hierarchies, std::unique_ptr<CgroupNews> cgroups, const sys::Clock& clock, std::string why);
    void arm();
    [[nodiscard]] std::string usage_directory(const Watermark& watermark) const;
    [[nodiscard]] std::int64_t usage_level(const Watermark& watermark) const;
    [[nodiscard]] std::optional<Watched> usage_watch(const Watermark& watermark) const;
    [[nodiscard]] bool tell(Watched& watched, const Sink& sink);
    void put_off_levels();
    void renew_levels();
    [[nodiscard]] std::int64_t free_cache(const std::string& directory) const;
    void arm_memory_events();
    void arm_pressure(const std::string& path);
    [[nodiscard]] bool listen(int fd, std::uint32_t events, std::uint64_t which) const;
    void add(Watched watched, std::uint32_t events);
    [[nodiscard]] bool pressure_is_watched() const;

    Hierarchies hierarchies_;
    std::unique_ptr<CgroupNews> cgroups_;
    const sys::Clock& clock_;
    std::string why_;
    sys::Fd epoll_;
    sys::Fd levels_due_;  // in the epoll set: wakes the loop once more, behind the look
    MonotonicTime levels_renewed_;
    std::vector<Watched> watched_;
    std::vector<Watermark> watermarks_;
    MemoryAvailable counted_ = MemoryAvailable::kubelet;
    std::optional<port::PodsRoot> root_;
};

}  // namespace evictd::kernel

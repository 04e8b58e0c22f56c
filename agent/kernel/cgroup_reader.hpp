// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A CgroupWatch in a thread of its own, which opens the pods' cgroups, too. To look a new cgroup up takes the lock of
// the directory above it, which whoever makes or removes a cgroup there holds meanwhile, with an ordinary priority: the
// real-time thread that decides and kills would wait for it, behind everything else that runs (4 to 40 ms were
// measured).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/cgroup_watch.hpp"
#include "sys/fd.hpp"
#include "sys/lane.hpp"
#include "sys/loop.hpp"
#include "sys/pi_mutex.hpp"

namespace evictd::kernel {

class CgroupReader final : public CgroupNews {
public:
    // Called in the thread with the path of each cgroup that was made. What it returns is held until drain() has told
    // of it.
    using OpenAhead = std::function<port::PodCgroupPtr(const std::string& path)>;

    // `watch->works()` must be true. What `open_ahead` refers to must outlive the reader. `priority`: of the thread,
    // SCHED_FIFO; 0: normal.
    static Result<std::unique_ptr<CgroupReader>> make(std::unique_ptr<CgroupWatch> watch, OpenAhead open_ahead,
                                                      int priority);

    [[nodiscard]] bool works() const override { return works_; }
    [[nodiscard]] int fd() const override { return has_news_.get(); }
    // Both of these wait while the reader asks the kernel. The first follow() starts the thread, with the rights that
    // the caller has then. Earlier news is dropped.
    void follow(const std::optional<port::PodsRoot>& root) override;
    [[nodiscard]] std::vector<SourceRow> rows() const override;
    // Does not wait for a lookup of the reader's.
    void drain(const Sink& sink) override;

private:
    struct News {
        KernelEvent event;
        port::PodCgroupPtr opened;
    };
    CgroupReader(std::unique_ptr<CgroupWatch> watch, OpenAhead open_ahead, int priority, sys::Fd has_news);
    Status start();
    Status listen();
    void refuse(std::string why);  // empty: it is listened to
    void give_up(const Error& error);
    void note_works();  // with the watch's mutex
    void read();
    void tell(News news);

    OpenAhead open_ahead_;
    int priority_;
    mutable sys::PiMutex watch_mutex_;  // held while the kernel is asked
    std::unique_ptr<CgroupWatch> watch_;
    std::string refusal_;      // under it: why the watch is not listened to; empty: it is
    sys::PiMutex news_mutex_;  // never held while the kernel is asked
    std::vector<News> news_;
    std::vector<News> told_;     // the main thread's, for its capacity
    std::uint64_t follows_ = 0;  // the main thread's
    std::atomic<bool> works_ = true;
    sys::Fd has_news_;  // eventfd
    sys::Source readable_;
    std::unique_ptr<sys::Lane> lane_;  // the last member: its thread uses the others
};

}  // namespace evictd::kernel

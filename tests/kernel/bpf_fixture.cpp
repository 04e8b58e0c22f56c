// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/bpf_fixture.hpp"

#include <utility>

#include <poll.h>

#include "kernel/cgroup_watch.hpp"
#include "kernel/proc_files.hpp"
#include "sys/clock.hpp"

namespace evictd::kernel_test {
namespace {

struct Loaded {
    std::unique_ptr<kernel::Bpf> bpf;
    std::unique_ptr<kernel::BpfEvents> events;
    std::string error;
};

Loaded& loaded() {
    static const sys::SystemClock clock;
    static Loaded once = [] {
        Loaded made;
        auto bpf = load_bpf("");
        if (!bpf) return Loaded{nullptr, nullptr, bpf.error().text()};
        auto events = kernel::BpfEvents::make(
            **bpf, std::make_unique<kernel::CgroupWatch>(hierarchies().memory, std::vector<std::string>{}, clock));
        if (!events) return Loaded{nullptr, nullptr, events.error().text()};
        return Loaded{std::move(*bpf), std::move(*events), {}};
    }();
    return once;
}

bool was_loaded = false;

}  // namespace

void LoadedOnce::TearDown() {
    if (was_loaded) {
        loaded().events.reset();
        loaded().bpf.reset();
    }
}

Result<std::unique_ptr<kernel::Bpf>> load_bpf(const std::string& pin_path, std::vector<kernel::Refusal> refused) {
    auto choice = kernel::choose_programs(std::move(refused));
    if (!choice) return tl::unexpected(choice.error());
    auto files = kernel::ProcFiles::open();
    if (!files) return tl::unexpected(files.error());
    const auto node = (*files)->read(false);
    if (!node) return tl::unexpected(node.error());
    return kernel::Bpf::load(std::move(*choice), {.pin_path = pin_path,
                                                  .memory_mount = hierarchies().memory,
                                                  .unified_mount = hierarchies().v2_mount(),
                                                  .hierarchy_id = hierarchies().memory_id,
                                                  .node_capacity = node->total,
                                                  .pod_limit_period = pod_limit_period});
}

MonotonicTime now() { return sys::SystemClock().monotonic(); }

void WithBpf::SetUp() {
    was_loaded = true;
    bpf_ = loaded().bpf.get();
    events_ = loaded().events.get();
    ASSERT_NE(bpf_, nullptr) << loaded().error;
    (void)pending();  // of the test before
    unseen_.clear();
}

void WithBpf::TearDown() {
    if (events_ != nullptr) {
        EXPECT_TRUE(events_->watch({}));
        EXPECT_TRUE(events_->watch_exits(false));
        EXPECT_TRUE(events_->watch_stalls({}));
        EXPECT_TRUE(events_->count_memory(MemoryAvailable::kubelet));
        EXPECT_TRUE(bpf_->show_pods({}));
        EXPECT_TRUE(events_->follow(std::nullopt));
    }
}

void WithBpf::make_pods_root(std::optional<Bytes> limit) {
    cgroups_.make("kubepods");
    if (limit) cgroups_.limit_memory("kubepods", *limit);
    const auto followed = events_->follow(cgroups_.pods_root("kubepods"));
    ASSERT_TRUE(followed) << followed.error().text();
    (void)usage();  // the first pass, as the agent's first look
    (void)pending();
}

std::optional<KernelEvent> WithBpf::wait_for_any(const std::function<bool(const KernelEvent&)>& fits, Duration within) {
    const auto end = now() + within;
    for (;;) {
        events_->drain([this](const KernelEvent& event) { unseen_.push_back(event); });
        for (auto event = unseen_.begin(); event != unseen_.end(); ++event) {
            if (fits(*event)) {
                KernelEvent found = *event;
                unseen_.erase(unseen_.begin(), event + 1);
                return found;
            }
        }
        unseen_.clear();
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - now()).count();
        pollfd ready{.fd = events_->fd(), .events = POLLIN, .revents = 0};
        if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) <= 0) return std::nullopt;
    }
}

std::vector<KernelEvent> WithBpf::pending() {
    auto all = std::exchange(unseen_, {});
    events_->drain([&](const KernelEvent& event) { all.push_back(event); });
    return all;
}

bool WithBpf::wait_for_ticks(std::uint64_t more) {
    const auto begin = bpf_->timer_stats().ticks;
    return eventually([&] { return bpf_->timer_stats().ticks >= begin + more; });
}

std::vector<port::CgroupUsage> WithBpf::usage() const {
    std::vector<port::CgroupUsage> rows;
    kernel::UsageIter iterator(*bpf_);
    const auto read = iterator.read(rows, port::Pass::with_processes);
    EXPECT_TRUE(read) << read.error().text();
    return rows;
}

}  // namespace evictd::kernel_test

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "eviction.hpp"

#include <csignal>
#include <ctime>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace evictd::bench {
namespace {

// Bigger than any hog, and within its request: whoever kills by size kills this one.
constexpr std::size_t quiet_size = std::size_t{192} << 20U;
// A line counts as crossed back after 5 ms above it (SETTLE_NS in bpf/watermark.bpf.c), as walks see it, which are up
// to 100 ms apart. A hog that crosses again before makes no new edge.
constexpr std::chrono::milliseconds settle{150};
constexpr Duration longest_wait = std::chrono::seconds(20);
constexpr Duration glance = std::chrono::milliseconds(1);
// Of a hog, for the kernel's per-CPU lists; an eighth of what it may grow by.
constexpr Bytes still_charged = 16_MiB;

void sleep_for(std::chrono::nanoseconds time) {
    const timespec span{time.count() / 1'000'000'000, time.count() % 1'000'000'000};
    (void)nanosleep(&span, nullptr);
}

// Slow: the first part at full speed as well, or a run would take minutes.
void grow(Growth growth) {
    constexpr std::size_t most = std::size_t{1} << 30U;
    constexpr std::size_t page = 4096;
    constexpr std::size_t fast_part = std::size_t{104} << 20U;
    constexpr std::size_t each_ms = 100 * 1000;
    void* mapped = mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
        _exit(5);
    }
    (void)madvise(mapped, most, growth == Growth::full_speed ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    auto* memory = static_cast<volatile char*>(mapped);
    for (std::size_t at = 0; at < most; at += page) {
        memory[at] = 1;
        if (growth == Growth::slow && at > fast_part && at % each_ms < page) {
            sleep_for(std::chrono::milliseconds(1));
        }
    }
    for (;;) {
        (void)pause();
    }
}

void note(const codec::EventLatency& latency, Tally& tally) {
    const std::array<std::optional<Duration>, 5> values{latency.detect, latency.decide, latency.act, latency.total,
                                                        latency.empty};
    for (std::size_t i = 0; i < values.size(); i++) {
        if (values[i]) {
            tally.parts[latency_parts[i]].push_back(std::chrono::duration<double, std::micro>(*values[i]).count());
        }
    }
    tally.unmeasured += latency.total ? 0 : 1;
}

Status watch_eviction(AgentProcess& agent, const BenchPod& hog, Tally& tally) {
    while (const auto event = agent.next_event(longest_wait)) {
        if (!(event->reason == codec::Reason::evicted || event->reason == codec::Reason::eviction_failed)) {
            continue;
        }
        const bool right = event->reason == codec::Reason::evicted && event->pod && event->pod->uid == hog.uid;
        (right ? tally.right : tally.wrong)++;
        note(event->latency, tally);
        return {};
    }
    return fail(ErrorKind::failed, hog.name, "was not evicted in 20 s");
}

// By the kernel's own count: the agent reports only so many crossings of one threshold.
Status wait_for_memory(const PodTree& tree, Bytes before) {
    for (Duration waited{0}; waited < longest_wait; waited += glance) {
        if (tree.usage() <= before + still_charged) {
            return {};
        }
        sleep_for(glance);
    }
    return fail(ErrorKind::failed, "usage of the pods", "does not fall after an eviction");
}

}  // namespace

Status populate(PodTree& tree, int count, int with_process, int first) {
    for (int i = 0; i < count; i++) {
        const auto pod = tree.add("pod-" + std::to_string(first + i), "1Mi");
        if (!pod) {
            return tl::unexpected(pod.error());
        }
        if (i >= with_process) {
            continue;
        }
        if (const auto started = tree.start_sleeper(*pod); !started) {
            return tl::unexpected(started.error());
        }
    }
    return {};
}

Status add_quiet_pod(PodTree& tree) {
    auto pod = tree.add("quiet", "256Mi");
    if (!pod) {
        return tl::unexpected(pod.error());
    }
    auto started = tree.start_sleeper(*pod, quiet_size);
    return started ? Status{} : tl::unexpected<Error>(started.error());
}

Status evict_one(PodTree& tree, AgentProcess& agent, int number, Growth growth, Tally& tally) {
    const Bytes before = tree.usage();
    const auto hog = tree.add("hog-" + std::to_string(number), "0");
    if (!hog) {
        return tl::unexpected(hog.error());
    }
    if (auto known = agent.wait_for_pod(tree.id(*hog)); !known) {
        return known;
    }
    const auto process = tree.start(*hog, [growth] { grow(growth); });
    if (!process) {
        return tl::unexpected(process.error());
    }
    auto seen = watch_eviction(agent, *hog, tally);
    (void)kill(*process, SIGKILL);
    (void)waitpid(*process, nullptr, 0);
    tally.oom_kills += tree.oom_kills(*hog);
    tree.remove(*hog);
    if (seen) {
        seen = wait_for_memory(tree, before);
    }
    sleep_for(settle);
    return seen;
}

}  // namespace evictd::bench

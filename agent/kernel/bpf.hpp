// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The loaded BPF programs and their maps: opened, loaded, attached and pinned here, gone with the object. It interprets
// nothing: bpf_events.hpp and usage_iter.hpp do.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evictd/abi/settings.h"
#include "evictd/model/memory_available.hpp"
#include "evictd/model/result.hpp"
#include "evictd/port/cgroups.hpp"
#include "kernel/pins.hpp"
#include "kernel/pod_map.hpp"
#include "kernel/programs.hpp"
#include "kernel/sockets.hpp"
#include "kernel/stall_map.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {

struct LoadedPrograms;

struct BpfOptions {
    std::string pin_path;       // directory on a bpffs; empty: nothing is pinned
    std::string memory_mount;   // mount point of the memory hierarchy
    std::string unified_mount;  // of the v2 hierarchy; empty: none
    std::uint32_t hierarchy_id = 0;
    Bytes node_capacity;
    // A pod that lives at its limit is reported no more often. Half as much would double what 110 such pods add to the
    // event log (110 lines a minute); twice as much is longer than a person waits for the second.
    Duration pod_limit_period = std::chrono::minutes(1);
};

class Bpf {
public:
    // Takes what choose_programs() found, and does without what the kernel refuses of it when it is loaded or attached.
    // Stale pins of an agent that died are replaced.
    static Result<std::unique_ptr<Bpf>> load(Choice choice, const BpfOptions& options);
    Bpf(const Bpf&) = delete;
    Bpf& operator=(const Bpf&) = delete;
    ~Bpf();

    // Whether a program of ours feeds this hook. Without "watermark" nothing compares the thresholds and there is no
    // history; without "usage" read_usage() fails.
    [[nodiscard]] bool feeds(std::string_view hook) const;
    // What the kernel refused though its hook is there.
    [[nodiscard]] const std::vector<Refusal>& refused() const;

    [[nodiscard]] int events_map() const;
    [[nodiscard]] int history_map() const;
    [[nodiscard]] evictd_drops drops() const;
    [[nodiscard]] evictd_timer_stats timer_stats() const;

    // The pods' root for every program, and a new usage iterator below it.
    Status follow(const std::optional<port::PodsRoot>& root);
    // The directory of the root that is followed, in the memory hierarchy; -1: none is.
    [[nodiscard]] int root_directory() const;
    [[nodiscard]] const std::string& memory_mount() const { return options_.memory_mount; }
    // Whether CgroupLife populated and emptied are reported; no effect where no program can.
    Status watch_exits(bool on);
    // Replaces all lines; each is compared afresh.
    Status set_thresholds(const std::vector<evictd_watermark>& lines);
    // How the timer counts what is available; the kubelet's way until it is said.
    Status count_memory(MemoryAvailable counted);
    // One pass of the usage iterator: its rows (evictd_usage), good until the next. `vanished` while there is no pods'
    // root. `changed_rows`: all rows are read where cgroups came or went since. Not from two threads at once.
    [[nodiscard]] Result<std::span<const std::byte>> read_usage(port::Pass pass);
    // The node's memory as the last pass counted it. None: that pass did not reach its end, or the timer is not
    // started.
    [[nodiscard]] std::optional<port::NodeMemoryReading> node_memory() const;
    // The pods' and the node's stalls; null: no program counts them on this kernel.
    [[nodiscard]] StallMap* stalls() { return stalls_ ? &*stalls_ : nullptr; }
    // Replaces the contents of the map "pods", and watches these pods' stalls. Not from two threads
    // at once.
    Status show_pods(const std::vector<std::pair<CgroupId, evictd_pod>>& pods);

    // The pods' sockets. It lives as long as this.
    [[nodiscard]] Sockets& sockets() { return *sockets_; }

    // One row a hook, and one for the pins.
    [[nodiscard]] const std::vector<SourceRow>& rows() const { return rows_; }

private:
    [[nodiscard]] Status pass_over_cgroups();
    struct Loaded;  // the skeleton and the links
    Bpf(LoadedPrograms programs, BpfOptions options);
    Status open_maps();
    std::optional<Refusal> attach();
    Status start_timer();
    Status write_settings();
    void pin();

    BpfOptions options_;
    std::unique_ptr<Loaded> loaded_;
    std::unique_ptr<Sockets> sockets_;
    evictd_settings settings_{};
    std::vector<SourceRow> rows_;
    std::optional<PodMap> pods_;
    std::optional<StallMap> stalls_;
    std::optional<PinDirectory> pins_;
    sys::Fd spare_;  // given up for a pass of the usage program that gets no descriptor of its own
};

}  // namespace evictd::kernel

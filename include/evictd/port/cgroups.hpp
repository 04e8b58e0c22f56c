// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The cgroups below the pods' root: what they use, and the means to end what runs in one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "evictd/model/held_memory.hpp"
#include "evictd/model/ids.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/stall.hpp"
#include "evictd/model/units.hpp"
#include "evictd/port/node_memory.hpp"

namespace evictd::port {

// One cgroup as the kernel counts it. The page counts are its own, without its children's; usage includes them.
struct CgroupUsage {
    CgroupId id;
    std::int32_t level = 0;  // depth in the hierarchy; children follow their parent
    Bytes usage;
    std::optional<Bytes> limit;
    Bytes inactive_file;
    Bytes active_file;
    Bytes anon;
    std::int32_t processes = 0;       // its own, without its children's; as of the last count, see Pass
    std::optional<PodStall> stall{};  // of a pod's own row; none: nothing was lost, or nobody counts
    bool populated = false;           // the kernel counts processes in it or below it; never a count of ours
    bool dying = false;               // removed, and memory is still charged to it. Its id remains what it was
    bool whole = false;  // too many cgroups below it to read each: no rows of theirs follow. The page counts have them
};

// The pods' root, removed cgroups below it included, counted another way than by adding up the rows of a pass.
struct RootCount {
    Bytes inactive_file;
    Bytes active_file;
    MonotonicTime at;
    std::optional<Bytes> accounted =
        std::nullopt;  // memory of every kind; the memory controller's only. None: not known
};

// What a pass reads. `with_processes` also counts processes, for which it visits each of the pods' threads; in the
// other two a cgroup of the last pass may keep its count, and a new one is counted. `changed_rows`: a row may be kept
// if the cgroup's usage is that of the last pass. UsageFiles reads all rows, and processes every 1 to 10 s.
enum class Pass { with_processes, all_rows, changed_rows };

// Every cgroup below the pods' root in one pass, the root first, parents before children. Removed cgroups that hold
// little memory have no row: their pages are counted with the nearest one above that has.
class UsageSource {
public:
    UsageSource() = default;
    UsageSource(const UsageSource&) = delete;
    UsageSource& operator=(const UsageSource&) = delete;
    virtual ~UsageSource() = default;

    // Fills `rows` anew (its capacity is reused). The pods' root gone, or not there yet, is `vanished`.
    virtual Status read(std::vector<CgroupUsage>& rows, Pass pass) = 0;
    // What was available on the node at the end of the last read(), without the free pages in per-CPU lists; `total` is
    // not set. None: read() does not count it or failed, or controller_count() was called
    // since.
    [[nodiscard]] virtual std::optional<NodeMemoryReading> node_memory() const { return std::nullopt; }
    // What the kernel's timer counted last. None: it has not counted yet, or there is none.
    [[nodiscard]] virtual std::optional<RootCount> timer_count() const { return std::nullopt; }
    // The memory controller's own figures, from its files: slow, because the kernel flushes its counters for it. It
    // leaves that out where it believes that little changed, and then they are up to 2 s old. None: read() has them
    // from there already.
    [[nodiscard]] virtual Result<std::optional<RootCount>> controller_count() { return std::optional<RootCount>{}; }
    // The node's page cache that the memory controller has not counted for any cgroup yet. Before controller_count():
    // where it makes the kernel flush its counters, it does so for all cgroups. 0: none, or it is not known.
    [[nodiscard]] virtual Bytes uncounted_cache() { return {}; }
};

// How a pod's processes are listed. `quick`: cgroup.procs of its memory hierarchy. `thorough` finds those too that it
// does not name: on v1 in the freezer's hierarchy, on v2 by their threads (a main thread that exited in another
// cgroup).
enum class Listing { quick, thorough };

// Some of the processes of one of a pod's cgroups, in ascending order; none if it has none.
struct ProcessBatch {
    std::span<const pid_t> pids;
    // All that the same cgroup lists now, in ascending order.
    std::function<Result<std::vector<pid_t>>()> list_again;
};

// A pod's cgroup, held open: it stays that cgroup whatever is made under its name later. Safe to use from several
// threads.
class PodCgroup {
public:
    PodCgroup() = default;
    PodCgroup(const PodCgroup&) = delete;
    PodCgroup& operator=(const PodCgroup&) = delete;
    virtual ~PodCgroup() = default;

    [[nodiscard]] virtual CgroupId id() const = 0;  // in the memory hierarchy
    [[nodiscard]] virtual const std::string& path() const = 0;

    // Processes in it and below it. `vanished` once the cgroup is removed.
    [[nodiscard]] virtual Result<std::vector<pid_t>> processes() const = 0;
    // The same a batch at a time, in one walk with bounded memory and few descriptors, until `visit` returns false.
    // Each cgroup gives at least one batch. The listing is not atomic: a process that moves meanwhile can be missed.
    // What could not be read is the error, after all the rest was visited.
    virtual Status each_batch(Listing listing, const std::function<bool(const ProcessBatch&)>& visit) const = 0;
    // Whether this program runs in it. No listing where the cgroup that we are in can be told otherwise.
    [[nodiscard]] virtual Result<bool> holds_us() const = 0;
    // Whether a process is left in it or below it, as the kernel says: cgroup.events on v2. v1 has no such file, so
    // that every cgroup.procs of the subtree is read; where they are too many, "yes" unless surely_empty(). What could
    // not be read is an error, never "no". `vanished` once the cgroup is removed.
    [[nodiscard]] virtual Result<bool> populated() const = 0;
    // True: a counter of the kernel's says that no process is left, not even one that moves. False proves nothing.
    [[nodiscard]] virtual bool surely_empty() const = 0;
    // Tasks in it and below it, ended ones that nothing has waited for included, as its pids controller counts them. An
    // error where none does.
    [[nodiscard]] virtual Result<std::int64_t> tasks() const = 0;
    // What it is still charged with. Not for the kill path: the kernel adds up the counters of the whole subtree.
    [[nodiscard]] virtual Result<HeldMemory> held_memory() const = 0;

    // For one without processes: the kernel is asked to drop the page cache that it is still charged with
    // (memory.reclaim on v2, memory.force_empty on v1). Blocks for as long as that takes. False: it was not asked,
    // because a page is not written back yet, or that is not known; it may be asked a moment later.
    [[nodiscard]] virtual Result<bool> drop_cache() const = 0;

    // SIGKILL to all of them in one step (cgroup.kill, v2). False where the kernel has no such file.
    [[nodiscard]] virtual bool can_kill() const = 0;
    [[nodiscard]] virtual Status kill() const = 0;

    // The freezer, so that no process forks or moves while they are signalled; freeze() waits some milliseconds for
    // all to be frozen. Thawing thaws what is below it too.
    [[nodiscard]] virtual bool can_freeze() const = 0;
    [[nodiscard]] virtual Status freeze() const = 0;
    [[nodiscard]] virtual Status thaw() const = 0;
};
using PodCgroupPtr = std::shared_ptr<const PodCgroup>;

// A cgroup whose name says which pod it belongs to.
struct FoundPod {
    PodUid uid;
    PodCgroupPtr cgroup;
};

struct PodsRoot {
    std::string path;  // below the hierarchy's mount point, "/kubepods.slice"
    CgroupId id;
    std::uint32_t level = 0;
};

// Finds pods' cgroups by listing, never by computing where they should be: the driver and the layout are what is there.
class Cgroups {
public:
    Cgroups() = default;
    Cgroups(const Cgroups&) = delete;
    Cgroups& operator=(const Cgroups&) = delete;
    virtual ~Cgroups() = default;

    // Looks again. `vanished`: no pod was ever started on this node, or everything was removed. Any other error: none
    // was found, and there may be one. One that was found before and cannot be looked at now is found again.
    [[nodiscard]] virtual Result<PodsRoot> find_pods_root() = 0;
    // Each pod below the root found last that can be opened. An error: there may be more.
    virtual Status each_pod(const std::function<void(FoundPod)>& visit) const = 0;
    // All of them, or an error.
    [[nodiscard]] Result<std::vector<FoundPod>> list_pods() const {
        std::vector<FoundPod> found;
        auto listed = each_pod([&](FoundPod pod) { found.push_back(std::move(pod)); });
        return listed ? Result<std::vector<FoundPod>>(std::move(found)) : tl::unexpected(listed.error());
    }
    // The pod at `path`, if that is a pod's cgroup; `path` and `id` as in CgroupLife. If a handle with this id is held,
    // no system call is made. Without `id` the kernel is asked.
    [[nodiscard]] virtual std::optional<FoundPod> pod_at(const std::string& path, std::optional<CgroupId> id) const = 0;
    // False: some are there and could not be opened, since the last listing began.
    [[nodiscard]] virtual bool complete() const { return true; }
    // What is not watched, for people: these, or another root's; empty: nothing.
    [[nodiscard]] virtual std::string trouble() const { return {}; }
};

}  // namespace evictd::port

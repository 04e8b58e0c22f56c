// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Removes what the Decision names, one after the other, and asks the runtime before each whether it is in use again.
// What comes back is measured on the filesystems. It never chooses what goes. There is no ledger: what is removed
// cannot be put back, and what was not removed yet is found again by the next look.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/garbage.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/runtime.hpp"
#include "evictd/port/cgroup_remains.hpp"
#include "evictd/port/container_runtime.hpp"
#include "evictd/port/pod_logs.hpp"
#include "evictd/port/pod_remains.hpp"
#include "reconcile/garbage_uses.hpp"
#include "sys/clock.hpp"

namespace evictd::reconcile {

struct GarbageParts {
    std::function<RuntimePtr()> look;  // a new inventory (observe/runtime_inventory)
    // What the filesystems that garbage lies on have available together. None: it cannot be measured.
    std::function<std::optional<Bytes>()> available;
    // False: it was not taken, and is told again. A pass that is over is not desired for ever, so it is not for ever.
    std::function<bool(RuntimePtr)> tell_inventory;
    std::function<bool(const ReclaimOutcome&)> tell;
    // After each removal. Empty: not called.
    std::function<void(const Garbage&, const GarbageOutcome&)> on_removal{};
    // Whether the API server has no pod "namespace/name" with that uid (PodAbsence). Empty: there is no API server, and
    // no orphan is removed.
    std::function<Result<bool>(const PodUid& pod, const std::string& name)> is_gone{};
    // Looked at before an orphan goes; must outlive the keeper. Null: none goes.
    port::PodRemains* remains = nullptr;
    // Of cgroups, likewise; must outlive the keeper. Null: none goes.
    port::CgroupRemains* cgroups = nullptr;
    bool dry_run = false;
    // Nothing came back for so long: nothing more is waited for. None: until the deadline.
    std::optional<Duration> patience{};
};

class GarbageKeeper {
public:
    using Desired = DesiredGarbage;

    // All must outlive it.
    GarbageKeeper(port::ContainerRuntime& runtime, port::PodLogs& logs, const sys::Clock& clock, GarbageParts parts)
        : runtime_(runtime), logs_(logs), clock_(clock), parts_(std::move(parts)), uses_(runtime) {}

    // As a Reconciler (control_loop.hpp). A pass that is desired no more ends after the removal that is under way.
    void reconcile(const DesiredGarbage& desired);
    // At once while there is something to remove, one at a time; then until what it freed has come back.
    [[nodiscard]] std::optional<MonotonicTime> due() const;
    void act_on_time();
    void release();
    // The runtime has come, or come back: what could not be listed before is listed, at once or a second after the last
    // listing. A pass goes on.
    void list_what_lacks();

private:
    // A removal of which the runtime said nothing: tried once more when all others were.
    struct Unanswered {
        const Garbage* one = nullptr;  // of desired.removals
        GarbageOutcome outcome;
        bool was_asked_to_remove = false;
    };
    // Of an orphan, what did not go, or may yet go.
    struct Left {
        bool has_volumes = false;
        bool may_lose_volumes = false;
        bool may_lose_cgroup = false;
    };
    struct Pass {
        DesiredGarbage desired;
        std::size_t next = 0;  // of desired.removals
        std::vector<Unanswered> unanswered{};
        std::size_t next_again = 0;  // of unanswered
        bool sizes_known = true;     // of all that were removed
        Bytes said{};                // these sizes
        ReclaimOutcome outcome;
        std::optional<Bytes> available_before;
        MonotonicTime at;                            // the next measurement, when all are removed
        std::optional<MonotonicTime> last_growth{};  // of what is available, since all were removed
        std::map<std::string, Left> left{};          // by the orphan's uid
        bool is_over = false;                        // its outcome was not taken yet
    };
    struct Attempt {
        GarbageOutcome outcome;
        bool is_unanswered = false;
        bool was_asked_to_remove = false;
    };
    void begin(const DesiredGarbage& desired);
    void remove_next();
    void remove_again();
    void note(const Garbage& one, GarbageOutcome outcome);
    void measure();
    [[nodiscard]] bool is_all_back() const;
    void finish();
    void list();
    void tell_inventory();
    [[nodiscard]] Attempt remove(const Garbage& one);
    [[nodiscard]] Attempt try_to_remove(const Garbage& one);
    [[nodiscard]] Attempt outcome_of(const Garbage& one, const Status& done, GarbageStatus success) const;
    [[nodiscard]] std::optional<GarbageOutcome> why_no_orphan(const Garbage& one) const;
    [[nodiscard]] std::optional<GarbageOutcome> why_it_lives(const Garbage& one) const;
    [[nodiscard]] std::optional<GarbageOutcome> why_it_waits(const Garbage& one) const;
    [[nodiscard]] Status look_at(const Garbage& one) const;
    void note_left(const Garbage& one, const Attempt& attempt);
    [[nodiscard]] Status carry_out(const Garbage& one);

    port::ContainerRuntime& runtime_;
    port::PodLogs& logs_;
    const sys::Clock& clock_;
    GarbageParts parts_;
    GarbageUses uses_;
    RuntimePtr inventory_;                        // the newest
    std::optional<MonotonicTime> inventory_due_;  // it was not taken yet
    std::optional<MonotonicTime> listed_at_;      // when the last listing ended
    std::optional<MonotonicTime> list_due_;       // what lacks is listed then
    std::uint64_t last_pass_ = 0;
    std::optional<Pass> pass_;
};

}  // namespace evictd::reconcile

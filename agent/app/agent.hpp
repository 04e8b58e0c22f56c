// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The main loop: one cause leads to one look, one decision, one action and one published record. Everything it needs is
// handed to it; it makes nothing and knows no adapter.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "act/executor.hpp"
#include "app/look_pace.hpp"
#include "app/rehearsal_pace.hpp"
#include "app/source_faults.hpp"
#include "evictd/model/config.hpp"
#include "evictd/model/filesystem.hpp"
#include "evictd/model/record.hpp"
#include "evictd/model/runtime_names.hpp"
#include "evictd/model/state.hpp"
#include "evictd/port/kernel_event_source.hpp"
#include "evictd/port/node_pids.hpp"
#include "observe/observer.hpp"
#include "observe/pod_disks.hpp"
#include "observe/pod_table.hpp"
#include "reconcile/control_loop.hpp"
#include "reconcile/kernel_watcher.hpp"
#include "reconcile/rung_keeper.hpp"
#include "reconcile/score_keeper.hpp"
#include "reconcile/socket_shed.hpp"
#include "sys/clock.hpp"
#include "sys/loop.hpp"

namespace evictd::app {

// The newest word of threads that may wait for disks and the container runtime (app/disks). None of it waits. Empty:
// disks are not measured.
struct DiskParts {
    std::function<FilesystemsView()> filesystems{};
    std::function<observe::DiskFigures()> figures{};
    // How often filesystems are asked, and the runtime what writable layers keep. False: not taken, to be told again.
    std::function<bool(Duration)> set_filesystem_pace{};
    std::function<bool(Duration)> set_layers_pace{};
    std::function<void(const std::vector<PodUid>&)> refresh{};  // figures of these pods, before all others
    std::function<void(const DesiredGarbage&)> want_garbage{};
    std::function<bool()> has_runtime = [] { return false; };  // it will be listed, if it was not yet
    std::function<RuntimeNamesPtr()> names{};                  // empty: nothing names pods
    std::function<void()> want_names{};                        // there may be new ones
    explicit operator bool() const { return filesystems != nullptr; }
};

// What an Agent works with; all of it outlives the Agent.
struct AgentParts {
    sys::Loop& loop;
    const sys::Clock& clock;
    port::KernelEventSource& events;
    port::Cgroups& cgroups;
    observe::Observer& observer;
    act::Executor& executor;
    reconcile::SocketShed& socket_shed;
    std::function<void(RecordPtr)> publish;                   // must not wait
    std::function<Status(const port::PodsRoot&)> claim_root;  // before anything below a pods' root may be touched

    // Reconcilers in threads of their own; none of it waits. Empty: disabled.
    std::function<void(const reconcile::DesiredRungs&)> want_rungs{};
    std::function<void(const reconcile::DesiredScores&, reconcile::Urgency)> want_scores{};
    std::function<void(reconcile::KeptPod)> expect_scores{};  // ScoreKeeper::expect()
    std::function<void(const PodUid&)> check_scores{};        // ScoreKeeper::check()
    std::function<void(const std::vector<DesiredPodStatus>&)> want_pod_statuses{};
    std::function<void(const DesiredNodeStatus&)> want_node_status{};
    DiskParts disks{};
    port::NodePids* pids = nullptr;  // null: tasks are not counted

    // Before the kill that an attempt belongs to is carried out: notes it where it outlives the agent, in memory, in
    // microseconds. Empty: nothing is noted.
    std::function<void(const DesiredPodStatus&)> note_intent{};
    std::function<void(const DesiredPodStatus&)> drop_intent{};  // that will not be sent
};

struct AgentOptions {
    EvictionConfig eviction;
    bool dry_run = false;
    bool record = false;          // each Tick says what else decide() was given
    Duration score_period{};      // how often all oom_score_adj are read, if that is longer than the look period
    std::size_t pod_sources = 0;  // that set_pods() will be called of; 0: it is never known whether that was all
};

class Agent {
public:
    Agent(AgentParts parts, AgentOptions options);

    // Finds the pods' root, takes the first look and begins to listen. Fails if another agent works on the root. Later
    // that is reported and tried again: a running agent does not stop because of it.
    Status start();

    // All in the loop's thread.
    // The look comes after what is posted to the loop now: one for all sets that wait there.
    void set_pods(std::size_t source, port::PodSet set);
    void set_config(const EvictionConfig& eviction);
    void request_look();  // somebody wants fresh figures
    void notice(Notice notice, std::string message, std::string error = {});
    void note_rung(RungOutcome outcome);
    void note_logind(LogindView view);
    void note_pod_status(PodStatusOutcome outcome);
    void note_disks();  // DiskParts have something newer
    void count_pids();  // as often as Decision::pid_pace says
    void note_inventory(RuntimePtr inventory);
    void note_reclaimed(ReclaimOutcome outcome);
    // What an agent before this one had begun and not finished. Before start().
    void recall(std::vector<DesiredPodStatus> intents);

    // Of a signal, at the last look; none: it was not read.
    [[nodiscard]] std::optional<Amount> capacity_of(Signal signal) const {
        return capacities_.at(static_cast<std::size_t>(signal));
    }
    // When it will look by itself if nothing happens before.
    [[nodiscard]] MonotonicTime next_look() const { return next_look_; }

private:
    // Soon, because something may be wrong; not at once, because it may be wrong again.
    static constexpr Duration look_after_a_failed_one = std::chrono::milliseconds(100);

    // What a kernel event asks for: to be in the record of the next look, or that look at once.
    enum class Wanted : std::uint8_t { nothing, report, look };
    // By the cgroups of pods alone, or also by those that the last look found below them, which reads all of them.
    enum class Search : std::uint8_t { known_cgroups, all_cgroups };

    void on_kernel_events();
    class RearmedTimer;
    void on_timer();
    void arm_timer();
    [[nodiscard]] Wanted take(const KernelEvent& event);
    [[nodiscard]] bool is_watched(CgroupId cgroup) const;
    [[nodiscard]] bool may_be_refused(const CgroupLife& life) const;
    void tick(Cause cause);
    void look_at_pods();
    bool note_source(std::size_t source, port::PodSet& set);
    void note_complete(std::size_t source, const port::PodSet& set);
    [[nodiscard]] bool are_pods_complete() const;
    [[nodiscard]] Tick observe(Cause cause);
    void kill(Tick& tick, Decision decision);
    void reconcile(Tick& tick);
    void remember(Tick& tick, State state);
    void publish(Tick tick);
    [[nodiscard]] observe::NodeNeed node_need() const;
    [[nodiscard]] Observation look(Cause cause, std::vector<Outcome> outcomes, const observe::NodeNeed& node,
                                   observe::LookFor purpose = observe::LookFor::decision);
    void add_disks(Observation& observation, observe::LookFor purpose);
    void add_left_cgroups(Observation& observation) const;
    void refresh_figures(const Observation& observation);
    [[nodiscard]] RuntimePtr runtime() const;
    void begin_refreshing(MonotonicTime now);
    void add_victim_disks(std::vector<ObservedVictim>& victims) const;
    void want_disks(const Tick& tick);
    void pace_layers(const Tick& tick);
    void rank_by_processes();
    void add_pids(Observation& observation);
    void add_tasks(std::vector<ObservedVictim>& victims) const;
    void watch_pids(const Tick& tick);
    [[nodiscard]] Status arm_pids(Duration pace);
    void note_for_tape(Tick& tick);
    void note_place(Tick& tick) const;
    void follow_victims();
    [[nodiscard]] port::PodCgroupPtr cgroup_for(const Action& action) const;
    void weigh_owed(Tick& tick) const;
    void after_victims(Tick& tick);
    [[nodiscard]] bool get_ready();
    void on_approach();
    [[nodiscard]] bool rehearse_again(std::optional<Bytes> distance, MonotonicTime otherwise);
    std::optional<PodUid> rehearse_over(Observation observation);
    void tell_trouble();
    void tell_root();
    void want_scores(const Tick& tick);
    [[nodiscard]] std::shared_ptr<const reconcile::KeptPods> kept_pods(const std::optional<Reading>& node) const;
    void expect_scores(const CgroupLife& life);
    void check_scores(const OomScoreChanged& changed);
    void want_rungs(const std::vector<Rung>& rungs);
    void note_intents(const Tick& tick, const Decision& decision) const;
    void want_pod_statuses(const Tick& tick);
    [[nodiscard]] bool is_own(const Tick& tick, const DesiredPodStatus& one) const;
    void want_node_status(const std::optional<DesiredNodeStatus>& desired);
    [[nodiscard]] bool calls_for_rungs(const Observation& observation) const;
    Status follow_pods_root();
    bool follow_later();
    [[nodiscard]] bool pods_may_run_elsewhere();
    void lose_root();
    void forget_removed_root();
    void list_cgroups();
    void list_again();
    void expect_listing();
    template <class Kind>
    [[nodiscard]] PodUid owner_of(const Kind& kind, Search search) const;
    void name_owner(KernelEvent& event, Search search) const;
    [[nodiscard]] std::string container_of(const PodUid& uid, const std::string& cgroup_name) const;
    void schedule(const Tick& tick);
    void put_off(Cause cause, MonotonicTime until);
    [[nodiscard]] bool put_off(const KernelEvent& event, MonotonicTime detected_at);
    [[nodiscard]] Watching watching() const;

    AgentParts parts_;
    AgentOptions options_;
    observe::PodTable table_;
    reconcile::KernelWatcher watcher_;
    LookPace pace_;
    RehearsalPace rehearsal_pace_;
    bool rehearsal_cut_ = false;  // the last rehearsal, by an event
    SourceFaults source_faults_;
    State state_;
    std::shared_ptr<const EvictionConfig> recorded_config_;  // none: nothing is recorded
    std::uint64_t looks_ = 0;
    std::vector<observe::Followed> followed_;
    std::array<std::optional<Amount>, signal_count> capacities_{};
    std::vector<Outcome> outcomes_;  // of the last tick, for the next look
    std::vector<RungOutcome> rung_outcomes_;
    std::vector<Rung> wanted_rungs_;
    std::vector<PodStatusOutcome> pod_status_outcomes_;
    std::vector<DesiredPodStatus> recalled_;
    bool pods_current_ = false;
    std::vector<bool> complete_sources_;  // that said all that they know, by number
    std::optional<NodeView> node_;
    std::optional<LogindView> logind_;
    std::vector<DesiredPodStatus> wanted_pod_statuses_;
    std::optional<DesiredNodeStatus> wanted_node_status_;
    RuntimePtr runtime_;
    std::optional<ReclaimOutcome> reclaimed_;  // since the last look
    observe::DiskFigures used_figures_;        // that pods were looked at with last
    std::vector<bool> disks_met_;              // at the last look, by threshold
    MonotonicTime disks_read_;                 // what that compared met thresholds with
    bool is_disk_reading_old_ = false;         // the look before had it too: it decided nothing
    bool are_figures_missing_ = false;         // an eviction may be waiting for them
    MonotonicTime figures_count_since_;
    std::optional<MonotonicTime> disks_refreshed_;
    MonotonicTime refresh_at_;        // while a threshold on disk is met
    Duration refresh_pause_{0};       // after that
    bool disks_met_in_time_ = false;  // at the last look, a threshold in time
    Duration filesystem_pace_{0};
    Duration layers_pace_{0};
    bool may_act_for_disk_ = false;      // at the last look: a threshold is met, or its minimum reclaim is not reached
    bool may_disk_usage_decide_ = true;  // as of the last look
    std::uint64_t wanted_pass_ = 0;      // of garbage
    std::optional<MonotonicTime> wanted_inventory_since_;
    std::vector<bool> pids_met_;  // at the last look, by threshold
    std::string pids_trouble_;
    std::vector<KernelEvent> kernel_events_;  // for the record of the look to come
    std::optional<port::PodsRoot> root_;
    MonotonicTime list_again_at_;
    bool all_listed_ = true;     // no cgroup of a pod was there that could not be opened
    std::string claim_refused_;  // why the root that was found last is not ours; empty: it is, or there is none
    MonotonicTime claim_again_at_;
    std::string trouble_told_;
    std::optional<std::string> root_told_;  // its path, empty: that there is none; none: nothing yet
    MonotonicTime last_look_;
    MonotonicTime last_read_;  // the last look that a reader waited for
    bool reader_waits_ = false;
    MonotonicTime next_look_;
    std::optional<Cause> put_off_;  // what asked for a look and has to wait for next_look_
    bool timer_armed_ = false;
    MonotonicTime next_rehearsal_ = MonotonicTime::max();  // while a line is near
    MonotonicTime scores_looked_at_;
    bool score_reports_lost_ = false;  // one may be among the events that were lost since
    reconcile::DesiredScores desired_scores_;
    std::optional<PodUid> rehearsed_for_;  // who would be first, when a rehearsal last called for a look
    MonotonicTime may_call_for_look_at_;   // from then on a rehearsal may
    bool look_at_pods_posted_ = false;
    bool rehearsed_ = false;
    bool approached_ = false;  // some line may be crossed in a moment
    bool pressure_ = false;    // some threshold is met, or a victim is on its way
    sys::Source events_ready_;
    sys::Timer timer_;
    sys::Timer pid_timer_;
};

}  // namespace evictd::app

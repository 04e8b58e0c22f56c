// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Wiring's own: the parts of the agent and how each is made.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "act/reaper.hpp"
#include "app/agent.hpp"
#include "app/claims.hpp"
#include "app/config_reader.hpp"
#include "app/disks.hpp"
#include "app/guard.hpp"
#include "app/pod_sources.hpp"
#include "app/publishers.hpp"
#include "app/realtime.hpp"
#include "app/sources.hpp"
#include "app/watchdog.hpp"
#include "app/wiring.hpp"
#include "codec/status_json.hpp"
#include "evictd/port/pod_source.hpp"
#include "kernel/pod_controls.hpp"
#include "kernel/proc_scores.hpp"
#include "reconcile/control_loop.hpp"
#include "reconcile/intent_file.hpp"
#include "reconcile/intent_writer.hpp"
#include "reconcile/node_status_keeper.hpp"
#include "reconcile/pod_status_keeper.hpp"
#include "reconcile/reclaimer.hpp"
#include "sys/log.hpp"
#include "sys/logind.hpp"

namespace evictd::app {

// Members in the order of making; they go in the opposite one.
struct Wiring::Parts {
    Config config;                             // in force
    Config configured;                         // likewise, with what was asked for and cannot be had here
    std::optional<sys::LockFile> state_claim;  // the guard has it, too
    std::string why_no_ledger;                 // empty: what has to be put back can be written down
    std::optional<Guard> guard;
    ConfigSource config_source;
    std::optional<publish::TapeOptions> tape;
    std::string node;
    std::optional<sys::log::Session> log;
    sys::SystemClock clock;
    const WallTime started_at = clock.wall();  // of the agent, whatever is read or changed later
    std::optional<sys::Loop> loop;
    KernelSources kernel;
    std::optional<sys::LockFile> claim;  // of the pods below `claimed_root`
    CgroupId claimed_root;
    std::unique_ptr<act::Reaper> reaper;
    std::optional<act::Executor> executor;
    std::optional<reconcile::SocketShed> socket_shed;
    std::optional<observe::Observer> observer;
    std::shared_ptr<port::ApiServer> api;  // null: there is none; after pod_sources it refuses every request
    Publishers publishers;
    SourceRow score_row;
    SourceRow rungs_row;
    std::optional<config::KubeletText> kubelet_text;  // as known at the start
    std::optional<EvictionConfig> kubelet_eviction;   // the kubelet's own thresholds; none: not known
    bool is_kubelet_kept = false;                     // both are of an earlier answer (app/kept_kubelet.hpp)
    // Why evictd.kubelet.config could not be done, and what holds in its place. Empty: it was, or is off.
    std::string kubelet_unknown;
    std::string kubelet_instead;
    kernel::ProcScores process_scores;
    std::unique_ptr<reconcile::ControlLoop<reconcile::ScoreKeeper>> scores;
    std::optional<kernel::PodControls> pod_controls;
    // Two for the ladder, because a thaw must not wait for a reclaim.
    std::unique_ptr<reconcile::ControlLoop<reconcile::RungKeeper>> rungs;
    std::unique_ptr<reconcile::ControlLoop<reconcile::Reclaimer>> reclaimer;
    std::shared_ptr<reconcile::PodStatusCounters> pod_status_counters =
        std::make_shared<reconcile::PodStatusCounters>();
    std::unique_ptr<reconcile::IntentFile> intents;          // null: nothing is noted in memory that outlives the agent
    std::unique_ptr<reconcile::IntentWriter> intent_writer;  // null: there is no API server
    std::vector<DesiredPodStatus> left_intents;              // of earlier agents, and of this boot
    std::unique_ptr<reconcile::ControlLoop<reconcile::PodStatusKeeper>> pod_statuses;  // null: there is no API server
    SourceRow node_status_row;
    std::unique_ptr<reconcile::ControlLoop<reconcile::NodeStatusKeeper>> node_status;  // null: nothing of ours is shown
    std::optional<Agent> agent;
    std::atomic<bool> disk_news_waits = false;
    SourceRow disks_row;
    std::unique_ptr<Disks> disks;  // null: they are not measured
    PodSources pod_sources;
    SourceRow shutdown_row{
        .hook = "node shutdown", .chosen = "node object", .fallback = true, .detail = "logind has not answered yet"};
    bool was_shutting_down = false;       // by logind's last word
    std::unique_ptr<sys::Logind> logind;  // null: there is no API server, or no thread
    sys::Fd signals;
    sys::Source signals_ready;
    std::unique_ptr<RealtimeGuard> realtime;  // null: the priority is normal
    std::unique_ptr<Watchdog> watchdog;
    std::unique_ptr<ConfigReader> config_reader;  // last of the threads to be made, and first to go

    Status open_kernel();
    Status drop_rights();
    Status start_watchdog();
    Status run_watched();
    void restore_priority() const;
    Status claim_pods(const port::PodsRoot& root, Duration patience);
    Status post_guard();
    void tell_what_is_off();
    Status make_publishers();
    Status make_scores();
    Status make_rungs();
    Status make_pod_statuses();
    Status start_pod_statuses(std::vector<reconcile::Intent> noted);
    void open_intents();
    void note_intent(const DesiredPodStatus& desired) const;
    [[nodiscard]] bool show_scores(const reconcile::ScoreFigures& figures);
    Status make_node_status();
    [[nodiscard]] bool show_node_status(const reconcile::NodeStatusFigures& figures);
    Status make_agent();
    [[nodiscard]] AgentParts agent_parts();
    [[nodiscard]] DiskNews disk_news();
    [[nodiscard]] DiskParts disk_parts();
    Status start_disks();
    void show_disks();
    Status start_pod_sources();
    void start_logind();
    void note_logind(const sys::LogindWord& word);
    Status listen_to_signals();
    void on_signals();
    [[nodiscard]] codec::AgentStatus describe() const;
    [[nodiscard]] publish::AgentFacts facts() const;
    void want_stalls() const;
    void adopt_kubelet_config();
    config::Faults take_kubelet_config(const config::KubeletText& kubelet);
    bool take_kept_kubelet_config();
    void do_without_kubelet_config(const std::string& why);
    [[nodiscard]] std::function<void(const std::string& text)> kubelet_keeper() const;
    [[nodiscard]] std::vector<std::string> kubelet_first() const;
    Status start_config_reader();
    void apply(const config::ConfigOutcome& fresh);
    void compare_with_kubelet();
    [[nodiscard]] SourceRow kubelet_row() const;
};

}  // namespace evictd::app

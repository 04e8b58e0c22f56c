// SPDX-License-Identifier: Apache-2.0
#include "app/wiring.hpp"

#include <array>
#include <csignal>
#include <mutex>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "act/reaper.hpp"
#include "app/agent.hpp"
#include "app/guard.hpp"
#include "app/ladder_lanes.hpp"
#include "app/publishers.hpp"
#include "app/realtime.hpp"
#include "app/score_lane.hpp"
#include "app/sources.hpp"
#include "kernel/pod_controls.hpp"
#include "kernel/proc_scores.hpp"
#include "kube/manifest_source.hpp"
#include "policy/exhaustion.hpp"
#include "sys/claim.hpp"
#include "sys/log.hpp"

namespace evictd::app {
namespace {

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "localhost";
}

// A directory handle and a file a pod: 1,000 pods are beyond the usual soft limit.
void raise_file_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

}  // namespace

// Members in the order of making; they go in the opposite one.
struct Wiring::House {
    Config config;
    std::optional<Guard> guard;
    std::mutex eviction_mutex;  // config.eviction, which the publishing lane reads
    Reload reload;
    std::optional<publish::TapeOptions> tape;
    std::string node;
    std::optional<sys::log::Session> log;
    sys::SystemClock clock;
    std::optional<sys::Loop> loop;
    KernelSources kernel;
    std::optional<sys::Fd> claim;
    std::unique_ptr<act::Reaper> reaper;
    std::optional<act::Executor> executor;
    std::optional<act::SocketShed> socket_shed;
    std::optional<observe::Observer> observer;
    Publishers publishers;
    SourceRow score_row;
    SourceRow rungs_row;
    kernel::ProcScores process_scores;
    std::unique_ptr<ScoreLane> scores;
    std::optional<kernel::PodControls> pod_controls;
    std::unique_ptr<LadderLanes> rungs;
    std::optional<Agent> agent;
    std::vector<std::unique_ptr<port::PodSource>> pod_sources;
    std::vector<sys::Source> signals;

    Status open_kernel();
    Status claim_pods(const kernel::CgroupDirs& cgroups, const port::PodsRoot& root);
    Status make_publishers();
    Status make_scores();
    Status make_rungs();
    Status make_agent();
    Status start_pod_sources();
    Status listen_to_signals();
    [[nodiscard]] codec::AgentStatus describe() const;
    [[nodiscard]] EvictionConfig eviction();
    void on_reload();
};

// Whose pods these are is settled before anything is loaded, pinned or listened on.
Status Wiring::House::open_kernel() {
    auto cgroups = open_cgroups(config);
    if (!cgroups) {
        return tl::unexpected(cgroups.error());
    }
    if (const auto root = (*cgroups)->find_pods_root()) {
        if (auto claimed = claim_pods(**cgroups, *root); !claimed) {
            return claimed;
        }
    }
    auto sources = open_sources(config, std::move(*cgroups), clock);
    if (!sources) {
        return tl::unexpected(sources.error());
    }
    kernel = std::move(*sources);
    return {};
}

Status Wiring::House::claim_pods(const kernel::CgroupDirs& cgroups, const port::PodsRoot& root) {
    claim.reset();
    auto claimed = sys::claim_directory(cgroups.hierarchies().memory + root.path, "another evictd works on these pods",
                                        "stop it first, or give this one another cgroupRoot");
    if (!claimed) {
        return tl::unexpected(claimed.error());
    }
    claim = std::move(*claimed);
    return {};
}

Status Wiring::House::make_publishers() {
    auto made = app::make_publishers({.settings = config.agent,
                                      .node = node,
                                      .clock = clock,
                                      .bpf = kernel.bpf.get(),
                                      .status = describe(),
                                      .eviction = [this] { return eviction(); },
                                      .request_look = [this] { loop->post([this] { agent->request_look(); }); },
                                      .record = tape});
    if (!made) {
        return tl::unexpected(made.error());
    }
    publishers = std::move(*made);
    return {};
}

// For the publishing lane.
EvictionConfig Wiring::House::eviction() {
    const std::scoped_lock lock(eviction_mutex);
    return config.eviction;
}

codec::AgentStatus Wiring::House::describe() const {
    codec::AgentStatus status{.node = node,
                              .version = EVICTD_VERSION,
                              .pid = getpid(),
                              .started = clock.wall(),
                              .dry_run = config.agent.dry_run,
                              .config_file = config.file,
                              .thresholds = config.eviction.thresholds,
                              .stalls = config.eviction.stalls,
                              .sources = kernel.events->sources(),
                              .pod_sources = {}};
    status.sources.push_back(score_row);
    status.sources.push_back(rungs_row);
    for (const auto& threshold : policy::time_thresholds(config.eviction)) {
        status.thresholds.push_back(threshold);
    }
    for (const auto& source : pod_sources) {
        status.pod_sources.push_back(source->describe());
    }
    return status;
}

// Before the agent says anything: what an agent that was killed left raised is put back first.
Status Wiring::House::make_scores() {
    auto made =
        ScoreLane::make({.scores = process_scores,
                         .clock = clock,
                         .tell =
                             [this](AgentNotice notice) {
                                 (void)publishers.fanout->publish(std::make_shared<const Record>(std::move(notice)));
                             },
                         .show =
                             [this](SourceRow row) {
                                 loop->post([this, kept = std::move(row)]() mutable {
                                     score_row = std::move(kept);
                                     publishers.snapshot->set_agent(describe());
                                 });
                             }},
                        config);
    if (!made) {
        return tl::unexpected(made.error());
    }
    scores = std::move(*made);
    if (claim) {
        scores->recover(kernel.cgroups->list_pods().value_or(std::vector<port::FoundPod>{}));
    }
    return {};
}

// As make_scores(): what was left is put back before the agent says anything.
Status Wiring::House::make_rungs() {
    const auto& hierarchies = kernel.cgroups->hierarchies();
    rungs_row = ladder_row(config.eviction.ladder, hierarchies);
    config.eviction.ladder = possible_rungs(config.eviction.ladder, hierarchies);
    pod_controls.emplace(hierarchies);
    auto made = LadderLanes::make(
        {.controls = *pod_controls,
         .clock = clock,
         .tell =
             [this](RungOutcome outcome) {
                 loop->post([this, kept = std::move(outcome)]() mutable { agent->note_rung(std::move(kept)); });
             }},
        config);
    if (!made) {
        return tl::unexpected(made.error());
    }
    rungs = std::move(*made);
    rungs->recover();
    return {};
}

Status Wiring::House::make_agent() {
    auto made = act::Reaper::make(clock);
    if (!made) {
        return tl::unexpected(made.error());
    }
    reaper = std::move(*made);
    executor.emplace(clock, *reaper, config.agent.dry_run);
    socket_shed.emplace(clock, kernel.bpf ? &kernel.bpf->sockets() : nullptr, config.agent.dry_run);
    observer.emplace(*kernel.usage, *kernel.node, clock, kernel.stalls.get());
    agent.emplace(Parts{.loop = *loop,
                        .clock = clock,
                        .events = *kernel.events,
                        .cgroups = *kernel.cgroups,
                        .observer = *observer,
                        .executor = *executor,
                        .socket_shed = *socket_shed,
                        .publish = [this](RecordPtr record) { (void)publishers.fanout->publish(std::move(record)); },
                        .claim_root = [this](const port::PodsRoot& root) { return claim_pods(*kernel.cgroups, root); },
                        .scores = scores.get(),
                        .rungs = rungs.get()},
                  AgentOptions{.eviction = config.eviction,
                               .look_period = config.agent.look_period,
                               .dry_run = config.agent.dry_run,
                               .record = tape.has_value()});
    return {};
}

Status Wiring::House::start_pod_sources() {
    if (!config.static_pod_path.empty()) {
        pod_sources.push_back(std::make_unique<kube::ManifestSource>(config.static_pod_path, PodOrigin::static_file));
    }
    if (!config.agent.pod_manifest_path.empty()) {
        pod_sources.push_back(std::make_unique<kube::ManifestSource>(config.agent.pod_manifest_path));
    }
    for (std::size_t i = 0; i < pod_sources.size(); i++) {
        auto started = pod_sources[i]->start([this, i](port::PodSet set) {
            loop->post([this, i, kept = std::move(set)]() mutable { agent->set_pods(i, std::move(kept)); });
        });
        if (!started) {
            return started;
        }
    }
    return {};
}

Status Wiring::House::listen_to_signals() {
    const auto add = [this](int number, sys::Loop::Callback callback) -> Status {
        auto source = loop->add_signal(number, std::move(callback));
        if (!source) {
            return tl::unexpected(source.error());
        }
        signals.push_back(std::move(*source));
        return {};
    };
    (void)std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error of that write
    for (const int number : {SIGTERM, SIGINT}) {
        if (auto added = add(number, [this] { loop->stop(); }); !added) {
            return added;
        }
    }
    return add(SIGHUP, [this] { on_reload(); });
}

// A bad config is refused as a whole and the old one stays. What needs a restart is said.
void Wiring::House::on_reload() {
    auto fresh = reload();
    if (!fresh) {
        std::string faults;
        for (const auto& fault : fresh.error()) {
            faults += (faults.empty() ? "" : "; ") + fault.text();
        }
        sys::log::error("the new configuration is refused, the old one stays: " + faults);
        agent->notice(Notice::config_rejected, "The new configuration is refused, the old one stays in force", faults);
        return;
    }
    {
        const std::scoped_lock lock(eviction_mutex);
        fresh->eviction.ladder = config.eviction.ladder;  // the guard was set, or not, at the start
        config.eviction = fresh->eviction;
    }
    config.agent.look_period = fresh->agent.look_period;
    kernel.stalls->want(config.eviction);
    agent->set_config(config.eviction, config.agent.look_period);
    publishers.snapshot->set_agent(describe());
    agent->notice(Notice::config_reloaded,
                  "Thresholds, grace and transition periods were read again; other settings need a restart");
}

Wiring::Wiring(std::unique_ptr<House> house) : house_(std::move(house)) {}
Wiring::~Wiring() = default;

Result<std::unique_ptr<Wiring>> Wiring::make(const Config& config, Reload reload,
                                             std::optional<publish::TapeOptions> record) {
    if (geteuid() != 0) {
        return fail(ErrorKind::not_permitted, "run", "needs root to read the kernel and to end processes",
                    "sudo evictd run");
    }
    raise_file_limit();
    auto house = std::make_unique<House>();
    house->config = config;
    if (Guard::is_needed(config)) {  // before there are threads, locked memory or BPF
        auto guard = Guard::post(rungs_path(config.agent));
        if (!guard) {
            return tl::unexpected(guard.error());
        }
        house->guard = std::move(*guard);
    }
    house->reload = std::move(reload);
    house->tape = std::move(record);
    house->node = config.agent.node_name.empty() ? host_name() : config.agent.node_name;
    auto loop = sys::Loop::make();
    if (!loop) {
        return tl::unexpected(loop.error());
    }
    house->loop.emplace(std::move(*loop));
    // Signals are blocked before the first thread is made: all inherit that, and only the loop hears them.
    if (auto listening = house->listen_to_signals(); !listening) {
        return tl::unexpected(listening.error());
    }
    house->log.emplace(sys::log::open(sys::log::Level::info));
    for (const auto step :
         {&House::open_kernel, &House::make_publishers, &House::make_scores, &House::make_rungs, &House::make_agent}) {
        if (auto done = ((*house).*step)(); !done) {
            return tl::unexpected(done.error());
        }
    }
    return std::unique_ptr<Wiring>(new Wiring(std::move(house)));
}

Status Wiring::run() {
    House& house = *house_;
    if (auto started = house.agent->start(); !started) {
        return started;
    }
    if (auto started = house.start_pod_sources(); !started) {
        return started;
    }
    house.publishers.snapshot->set_agent(house.describe());
    if (const auto missing = become_realtime(house.config.agent.realtime_priority); !missing.empty()) {
        sys::log::warn("latencies may be higher: " + missing);
    }
    house.agent->notice(Notice::agent_started, "evictd " EVICTD_VERSION " watches the pods of this node");
    if (!house.kernel.why_not_bpf.empty()) {
        house.agent->notice(Notice::signal_source_changed,
                            "Kernel events come from files and a timed look, not from BPF: crossings are seen later",
                            house.kernel.why_not_bpf);
        sys::log::warn("BPF is not used: " + house.kernel.why_not_bpf);
    }
    auto ran = house.loop->run();
    house.pod_sources.clear();
    house.scores.reset();  // puts back what is raised
    house.rungs.reset();   // likewise
    house.agent->notice(Notice::agent_stopped, "evictd ends; nobody watches this node's thresholds but the kubelet");
    if (house.agent->stopped_by()) {
        return tl::unexpected(*house.agent->stopped_by());
    }
    return ran;
}

}  // namespace evictd::app

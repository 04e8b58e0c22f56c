// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/wiring.hpp"

#include <array>
#include <csignal>
#include <utility>

#include <unistd.h>

#include "app/realtime.hpp"
#include "app/rights.hpp"
#include "app/wiring_parts.hpp"
#include "config/stall_settings.hpp"
#include "kernel/loader.hpp"
#include "kernel/pod_cgroup.hpp"
#include "sys/fd_table.hpp"
#include "sys/held_signals.hpp"
#include "sys/log.hpp"
#include "sys/program_code.hpp"
#include "sys/service.hpp"
#include "sys/shared_library.hpp"

namespace evictd::app {
namespace {

// 4,000 pods and what the kill path opens.
constexpr std::size_t descriptors_at_once = 16'384;

// After this the first connections to the API server and the container runtime have been made. Giving back then takes
// the main thread up to 1 ms, once.
constexpr Duration start_up = std::chrono::minutes(1);

}  // namespace

Status Wiring::Parts::start_pod_sources() {
    for (std::size_t i = 0; i < pod_sources.size(); i++) {
        auto started = pod_sources[i]->start([this, i](port::PodSet set) {
            return loop->post([this, i, kept = std::move(set)]() mutable { agent->set_pods(i, std::move(kept)); });
        });
        if (!started) {
            return started;
        }
    }
    return {};
}

Status Wiring::Parts::listen_to_signals() {
    auto opened = sys::open_signals(std::array{SIGTERM, SIGINT, SIGQUIT, SIGHUP});
    if (!opened) {
        return tl::unexpected(opened.error());
    }
    signals = std::move(*opened);
    // As urgent as the kernel's events: no flood of them may keep the program from being ended.
    auto ready = loop->add_fd(
        signals.get(), [this] { on_signals(); }, sys::Priority::urgent);
    if (!ready) {
        return tl::unexpected(ready.error());
    }
    signals_ready = std::move(*ready);
    return {};
}

void Wiring::Parts::on_signals() {
    while (const auto number = sys::take_signal(signals)) {
        if (*number != SIGHUP) {
            loop->stop();
            return;
        }
        config_reader->read_now();
    }
}

// What the configuration asks for and cannot be had here.
void Wiring::Parts::tell_what_is_off() {
    for (const auto& change : changed_sources(kernel)) {
        agent->notice(Notice::signal_source_changed, change.what, change.why);
        sys::log::warn(change.what + ": " + change.why);
    }
    for (const auto& row : kernel.bpf ? kernel.bpf->rows() : std::vector<SourceRow>{}) {
        if (row.hook == "pins" && row.chosen.empty()) {
            sys::log::warn("nothing is pinned: " + row.detail);
        }
    }
    if (!why_no_ledger.empty()) {
        agent->notice(Notice::signal_source_changed,
                      "No pod is limited, frozen or raised for the OOM killer: there is no ledger for it",
                      why_no_ledger);
        sys::log::warn("no pod is limited, frozen or raised for the OOM killer: " + why_no_ledger);
    }
    if (!kubelet_unknown.empty()) {
        agent->notice(Notice::signal_source_changed,
                      "The kubelet's configuration is not known; until it answers, " + kubelet_instead,
                      kubelet_unknown);
    }
}

// A threshold that this kernel cannot measure is reported and not refused: one configuration serves many nodes.
void Wiring::Parts::want_stalls() const {
    kernel.stalls->want(config.eviction);
    if (const auto& uncounted = kernel.stalls->uncounted(); !uncounted.empty()) {
        sys::log::warn("evictd.psi: never met here, because this kernel does not count it: " + config::say(uncounted) +
                       "; boot with psi=1, and for pods with cgroup v2 mounted");
    }
}

// Before the first thread, which inherits them: rights belong to threads.
Status Wiring::Parts::drop_rights() {
    kernel::find_own_cgroup(kernel.cgroups->hierarchies());
    if (auto dropped = keep_needed_rights(); !dropped) {
        return dropped;
    }
    log.emplace(sys::log::open(sys::log::Level::info));
    return {};
}

// From here on the service manager gets its pings, or restarts us.
Status Wiring::Parts::start_watchdog() {
    if (config.agent.realtime_priority > 0) {
        if (auto guarded = RealtimeGuard::make(config.agent.realtime_priority)) {
            realtime = std::move(*guarded);
        } else {
            sys::log::warn("a loop that hangs is not limited: " + guarded.error().text());
        }
    }
    auto made = Watchdog::make({.alive =
                                    [this](const std::string& text) {
                                        sys::service::alive(text);
                                        if (realtime && realtime->lost()) {
                                            loop->post([this] { restore_priority(); });
                                        }
                                    },
                                .withheld = sys::service::status,
                                .period = watchdog_period(sys::service::watchdog()),
                                .health_path = publish::health_socket_path(config.agent.socket_path),
                                .is_ready = [this] { return publishers.board->document()->tick() != nullptr; }});
    if (!made) {
        return tl::unexpected(made.error());
    }
    watchdog = std::move(*made);
    sys::service::ready();
    return {};
}

void Wiring::Parts::restore_priority() const {
    sys::log::warn("the agent took a CPU for 1 s without a pause and lost its real-time priority: it is given back");
    realtime->restore();
}

// A thread that failed ends the program; what has to be put back is put back on the way out.
Status Wiring::Parts::run_watched() {
    auto& proof = sys::ProofOfLife::of_this_program();
    proof.on_failure([this] { loop->stop(); });
    auto ran = [&] {
        const auto watched = proof.watch("main", *loop, sys::Duty::main);
        return proof.failure() ? Status{} : loop->run();
    }();
    proof.on_failure({});
    sys::service::stopping();
    if (const auto failed = proof.failure(); failed && ran) {
        return tl::unexpected(*failed);
    }
    return ran;
}

Wiring::Wiring(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Wiring::~Wiring() = default;

Result<std::unique_ptr<Wiring>> Wiring::make(const Config& config, ConfigSource source,
                                             std::optional<publish::TapeOptions> record) {
    if (geteuid() != 0) {
        return fail(ErrorKind::not_permitted, "run", "needs root to read the kernel and to end processes",
                    "sudo evictd run");
    }
    sys::raise_fd_limit();
    sys::grow_fd_table(descriptors_at_once);
    refuse_huge_pages();
    auto parts = std::make_unique<Parts>();
    parts->config = config;
    parts->config_source = std::move(source);
    parts->node = node_name(config);
    parts->adopt_kubelet_config();
    parts->configured = parts->config;
    if (auto posted = parts->post_guard(); !posted) {  // before there are threads, locked memory or BPF
        return tl::unexpected(posted.error());
    }
    parts->tape = std::move(record);
    auto loop = sys::Loop::make();
    if (!loop) {
        return tl::unexpected(loop.error());
    }
    parts->loop.emplace(std::move(*loop));
    if (auto listening = parts->listen_to_signals(); !listening) {
        return tl::unexpected(listening.error());
    }
    auto servers = make_pod_sources(parts->config, parts->node);
    parts->pod_sources = std::move(servers.pods);
    parts->api = std::move(servers.api);
    for (const auto step :
         {&Parts::open_kernel, &Parts::drop_rights, &Parts::make_publishers, &Parts::make_scores, &Parts::make_rungs,
          &Parts::make_pod_statuses, &Parts::make_node_status, &Parts::make_agent}) {
        if (auto done = ((*parts).*step)(); !done) {
            return tl::unexpected(done.error());
        }
    }
    parts->want_stalls();
    return std::unique_ptr<Wiring>(new Wiring(std::move(parts)));
}

Status Wiring::run() {
    Parts& parts = *parts_;
    if (auto started = parts.agent->start(); !started) {
        return started;
    }
    if (auto started = parts.start_pod_sources(); !started) {
        return started;
    }
    if (auto started = parts.start_disks(); !started) {
        return started;
    }
    parts.start_logind();
    parts.publishers.board->set_agent(parts.facts());
    if (const auto missing = become_realtime(parts.config.agent.realtime_priority); !missing.empty()) {
        sys::log::warn("latencies may be higher: " + missing);
    }
    sys::give_back(kernel::bpf_object_file());
    parts.agent->notice(Notice::agent_started, "evictd " EVICTD_VERSION " watches the pods of this node");
    parts.tell_what_is_off();
    if (auto started = parts.start_watchdog(); !started) {
        return started;
    }
    if (auto started = parts.start_config_reader(); !started) {
        return started;
    }
    auto started_up = parts.loop->add_timer([] { sys::give_back_libraries(); });
    if (started_up) {
        started_up->arm_in(start_up);
    }
    auto ran = parts.run_watched();
    parts.config_reader.reset();
    parts.logind.reset();
    parts.scores.reset();  // puts back what is raised
    parts.reclaimer.reset();
    parts.rungs.reset();  // puts back what is held
    parts.pod_statuses.reset();
    parts.intent_writer.reset();  // what it left is written down
    parts.node_status.reset();    // removes taints
    parts.disks.reset();          // a disk or the runtime may hold it up
    parts.pod_sources.clear();    // last: a server may hold it up
    parts.agent->notice(Notice::agent_stopped, "evictd stopped; only the kubelet now watches this node's thresholds");
    return ran;
}

}  // namespace evictd::app

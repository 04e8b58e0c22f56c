// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/publishers.hpp"

#include <map>
#include <utility>
#include <vector>

#include <unistd.h>

#include "app/flight_recorder.hpp"
#include "app/sockets_view.hpp"
#include "kernel/history_map.hpp"
#include "policy/explain.hpp"
#include "policy/rank.hpp"
#include "publish/console_lines.hpp"
#include "publish/event_log.hpp"
#include "publish/prometheus.hpp"
#include "publish/status_socket.hpp"
#include "sys/log.hpp"

namespace evictd::app {
namespace {

using Made = Result<std::unique_ptr<port::Publisher>>;

// By another signal than the decision: the pods that were active at that look, with what kept them from being evicted
// then.
std::vector<RankedPod> rank_by_another(const EvictionConfig& config, const Tick& tick, Signal signal) {
    std::map<std::uint32_t, Exemption> exemptions;
    for (const auto& ranked : tick.decision.ranking) {
        exemptions.emplace(ranked.pod, ranked.exemption);
    }
    State state;
    for (const auto& victim : tick.decision.in_flight) {
        state.in_flight.emplace_back().victim.pod = victim.pod;
    }
    auto ranking = policy::rank_pods(config, signal, tick.observation, state);
    std::erase_if(ranking, [&](const RankedPod& ranked) { return !exemptions.contains(ranked.pod); });
    for (auto& ranked : ranking) {
        if (ranked.exemption == Exemption::none) {
            ranked.exemption = exemptions.at(ranked.pod);
        }
    }
    return ranking;
}

codec::VictimOrder order_of(const EvictionConfig& config, const Tick& tick, Signal signal) {
    const auto& decision = tick.decision;
    const bool decided = signal == decision.ranked_by && decision.stalls_met.empty();
    codec::VictimOrder order{
        .signal = signal, .ranking = decided ? decision.ranking : rank_by_another(config, tick, signal), .places = {}};
    for (const auto& ranked : order.ranking) {
        order.places.push_back(policy::place(signal, ranked, tick.observation));
    }
    return order;
}

publish::LossCounters losses(const publish::Fanout& fanout, const publish::EventLog& events,
                             const publish::TapeRecorder* tape, std::shared_ptr<publish::EventStream> stream) {
    return [&fanout, &events, tape, stream = std::move(stream)] {
        std::map<std::string, std::uint64_t> lost{{"records dropped before publishing", fanout.dropped()},
                                                  {"event log lines", events.lost_lines()},
                                                  {"events held back of pods that are gone", stream->never_reported()},
                                                  {"log lines", sys::log::lost()}};
        if (tape != nullptr) {
            lost["looks for the tape"] = tape->lost_looks();
        }
        return lost;
    };
}

publish::Fanout::Complete flight_recorder(const PublishersNeed& need) {
    FlightRecorderNeeds needs{.eviction = need.eviction, .kernel_samples = {}};
    if (need.bpf != nullptr && need.bpf->feeds("watermark"))
        needs.kernel_samples = [map = need.bpf->history_map()] { return kernel::read_history(map); };
    return [recorder = std::make_shared<FlightRecorder>(std::move(needs))](const RecordPtr& record) {
        return recorder->complete(record);
    };
}

publish::HttpAnswer health(bool looked) {
    const auto dead = sys::dead_ones(sys::ProofOfLife::of_this_program().check());
    if (!dead.empty()) {
        return {.status = 503, .body = dead + "\n"};
    }
    return looked ? publish::HttpAnswer{.body = "ok\n"}
                  : publish::HttpAnswer{.status = 503, .body = "the node was not looked at yet\n"};
}

// A port that is taken is no reason to leave the node unprotected.
std::unique_ptr<publish::HttpServer> serve(const std::string& address, const publish::Prometheus& metrics) {
    publish::HttpPages pages{
        {"/metrics",
         [&metrics] { return publish::HttpAnswer{.type = publish::Prometheus::text_type, .body = metrics.text()}; }},
        {"/healthz", [] { return health(true); }},
        {"/readyz", [&metrics] { return health(metrics.has_looked()); }},
    };
    publish::HttpPlace place{.address = address};
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(place.retry).count();
    place.tell = [address, every = std::to_string(seconds) + " s"](const Status& listening) {
        if (listening) {
            sys::log::info("HTTP (/metrics, /healthz, /readyz) is served on " + address);
        } else {
            sys::log::error("HTTP (/metrics, /healthz, /readyz) is not served, tried again every " + every + ": " +
                            listening.error().text());
        }
    };
    auto served = publish::HttpServer::make(std::move(place), std::move(pages));
    if (!served) {
        sys::log::error("HTTP (/metrics, /healthz, /readyz) is not served: " + served.error().text());
        return nullptr;
    }
    return std::move(*served);
}

}  // namespace

Result<Publishers> make_publishers(PublishersNeed need) {
    Publishers made;
    const auto thresholds = [eviction = need.eviction] { return eviction().thresholds; };
    auto fanout = publish::Fanout::make(publish::Fanout::default_queue, flight_recorder(need));
    if (!fanout) {
        return tl::unexpected(fanout.error());
    }
    made.fanout = std::move(*fanout);
    const auto& settings = need.settings;
    const auto stream = std::make_shared<publish::EventStream>(need.clock);
    const publish::EventLog* event_log = nullptr;
    const publish::TapeRecorder* tape = nullptr;
    std::vector<publish::Fanout::Make> makers;
    makers.emplace_back([&](sys::Loop&) -> Made {
        auto events = std::make_unique<publish::EventLog>(
            publish::RotatingFileOptions{settings.event_log_path, settings.event_log_max_size,
                                         settings.event_log_max_files},
            need.node, stream);
        event_log = events.get();
        return events;
    });
    if (need.record) {
        makers.emplace_back([&](sys::Loop&) -> Made {
            auto recorder =
                publish::TapeRecorder::make(*need.record, need.status.version, need.node, need.status.started);
            tape = recorder ? recorder->get() : nullptr;
            return recorder;
        });
    }
    if (settings.events_to_stdout) {
        makers.emplace_back([&](sys::Loop&) -> Made {
            return std::make_unique<publish::ConsoleLines>(STDOUT_FILENO, publish::ConsoleFormat::json, need.node,
                                                           codec::TextStyle{}, stream);
        });
    }
    SocketsView* sockets = nullptr;
    if (need.bpf != nullptr) {
        makers.emplace_back([&](sys::Loop&) -> Made {
            auto view = std::make_unique<SocketsView>(need.bpf->sockets(), need.clock);
            sockets = view.get();
            return view;
        });
    }
    makers.emplace_back([&](sys::Loop&) -> Made {
        auto last = std::make_unique<publish::Snapshot>(
            std::move(need.status),
            [eviction = std::move(need.eviction)](const Tick& tick, Signal signal) {
                return order_of(eviction(), tick, signal);
            },
            losses(*made.fanout, *event_log, tape, stream),
            sockets == nullptr ? publish::ReadSockets{} : [sockets] { return sockets->read(); });
        made.snapshot = last.get();
        return last;
    });
    makers.emplace_back([&](sys::Loop& lane) -> Made {
        return publish::StatusSocket::make(lane, need.clock, *made.snapshot,
                                           {settings.socket_path, need.node, settings.event_log_path,
                                            settings.event_log_max_files, std::move(need.request_look), stream});
    });
    const publish::Prometheus* metrics = nullptr;
    if (!settings.http_address.empty()) {
        makers.emplace_back([&](sys::Loop&) -> Made {
            auto counted = std::make_unique<publish::Prometheus>(
                publish::PrometheusOptions{EVICTD_VERSION, thresholds, losses(*made.fanout, *event_log, tape, stream)});
            metrics = counted.get();
            return counted;
        });
    }
    for (const auto& maker : makers) {
        if (auto added = made.fanout->add(maker); !added) {
            return tl::unexpected(added.error());
        }
    }
    if (metrics != nullptr) {
        made.http = serve(settings.http_address, *metrics);
    }
    return made;
}

}  // namespace evictd::app

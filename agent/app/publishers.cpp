// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/publishers.hpp"

#include <array>
#include <utility>

#include <unistd.h>

#include "app/claims.hpp"
#include "app/random_share.hpp"
#include "app/sockets_view.hpp"
#include "codec/text_style.hpp"
#include "kernel/history_map.hpp"
#include "policy/explain.hpp"
#include "policy/rank.hpp"
#include "policy/scale_down.hpp"
#include "publish/console_lines.hpp"
#include "publish/event_log.hpp"
#include "publish/flight_recorder.hpp"
#include "publish/kube_events.hpp"
#include "publish/prometheus.hpp"
#include "publish/snapshot.hpp"
#include "publish/status_socket.hpp"
#include "sys/log.hpp"

namespace evictd::app {
namespace {

using Made = Result<std::unique_ptr<port::Publisher>>;

publish::LossCounters losses(const publish::Fanout& fanout, const publish::EventLog& events,
                             const publish::TapeRecorder* tape, const publish::KubeEvents* kube_events,
                             std::shared_ptr<publish::EventStream> stream) {
    return [&fanout, &events, tape, kube_events, stream = std::move(stream)] {
        auto lost = fanout.losses();
        lost["event log lines"] = events.lost_lines();
        lost["events held back of pods that are gone"] = stream->never_reported();
        lost["log lines"] = sys::log::lost();
        if (tape != nullptr) {
            lost["looks for the tape"] = tape->lost_looks();
        }
        if (kube_events != nullptr) {
            lost["kube events"] = kube_events->lost();
        }
        return lost;
    };
}

publish::Fanout::Complete flight_recorder(const PublishersNeed& need, const publish::StatusBoard& board) {
    publish::FlightRecorderNeeds needs{.board = board, .place = policy::place, .kernel_samples = {}};
    if (need.bpf != nullptr && need.bpf->feeds("watermark"))
        needs.kernel_samples = [map = need.bpf->history_map()] { return kernel::read_history(map); };
    return [recorder = std::make_shared<publish::FlightRecorder>(std::move(needs))](const RecordPtr& record) {
        return recorder->complete(record);
    };
}

publish::HttpAnswer health(bool looked) {
    const auto dead = sys::dead_ones(sys::ProofOfLife::of_this_program().check());
    if (!dead.empty()) {
        return {.status = 503, .body = dead + "\n"};
    }
    return looked ? publish::HttpAnswer{.body = "ok\n"}
                  : publish::HttpAnswer{.status = 503, .body = "no observation yet\n"};
}

// A port that is taken is no reason to leave the node unprotected.
std::unique_ptr<publish::HttpServer> serve(const std::string& address, const publish::Prometheus& metrics,
                                           const publish::StatusBoard& board) {
    publish::HttpPages pages{
        {"/metrics",
         [&metrics] { return publish::HttpAnswer{.type = publish::Prometheus::text_type, .body = metrics.text()}; }},
        {"/healthz", [] { return health(true); }},
        {"/readyz", [&board] { return health(board.document()->tick() != nullptr); }},
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

// Makes one publisher after the other. Those in the shared lane wait for no client and no network: stdout and the
// status socket write only what fits, HTTP has a thread of its own, and the event log and the tape wait for the disk
// from which the status socket reads the same log. Some refer to those made before, in the same lane. Null: it is not
// wanted here.
class Maker {
public:
    Maker(PublishersNeed need, publish::Fanout& fanout, publish::StatusBoard& board)
        : need_(std::move(need)),
          settings_(need_.settings),
          fanout_(fanout),
          board_(board),
          stream_(std::make_shared<publish::EventStream>(need_.clock)) {}

    struct Row {
        Made (Maker::*make)(sys::Loop& lane);
        std::string own_lane{};  // its name, for one that waits for a network; empty: the shared lane
    };
    Status add(const Row& row) {
        const auto make = [this, make = row.make](sys::Loop& lane) { return (this->*make)(lane); };
        return row.own_lane.empty() ? fanout_.add(make) : fanout_.add_in_own_lane(row.own_lane, make);
    }

    Made event_log(sys::Loop& /*lane*/) {
        auto made = std::make_unique<publish::EventLog>(
            publish::RotatingFileOptions{settings_.event_log_path, settings_.event_log_max_size,
                                         settings_.event_log_max_files},
            need_.node, stream_);
        event_log_ = made.get();
        return made;
    }
    Made tape(sys::Loop& /*lane*/) {
        if (!need_.record) {
            return nullptr;
        }
        auto made = publish::TapeRecorder::make(*need_.record, need_.agent.status.version, need_.node,
                                                need_.agent.status.started);
        tape_ = made ? made->get() : nullptr;
        return made;
    }
    Made console(sys::Loop& /*lane*/) {
        if (!settings_.events_to_stdout) {
            return nullptr;
        }
        return std::make_unique<publish::ConsoleLines>(STDOUT_FILENO, publish::ConsoleFormat::json, need_.node,
                                                       codec::TextStyle{}, stream_);
    }
    Made sockets(sys::Loop& /*lane*/) {
        if (need_.bpf == nullptr) {
            return nullptr;
        }
        auto made = std::make_unique<SocketsView>(need_.bpf->sockets(), need_.clock);
        sockets_ = made.get();
        return made;
    }
    Made status(sys::Loop& /*lane*/) {
        return std::make_unique<publish::Snapshot>(board_, losses(fanout_, *event_log_, tape_, kube_events_, stream_));
    }
    Made status_socket(sys::Loop& lane) {
        auto sockets = sockets_ == nullptr ? publish::ReadSockets{} : [view = sockets_] { return view->read(); };
        return publish::StatusSocket::make(
            lane, need_.clock, board_,
            {settings_.socket_path, need_.node, settings_.event_log_path, settings_.event_log_max_files,
             need_.request_look, std::move(sockets), stream_});
    }
    Made prometheus(sys::Loop& /*lane*/) {
        if (settings_.http_address.empty()) {
            return nullptr;
        }
        auto made = std::make_unique<publish::Prometheus>(EVICTD_VERSION, board_);
        metrics = made.get();
        return made;
    }

    Made kube_events(sys::Loop& /*lane*/) {
        if (need_.api == nullptr || !settings_.kube_events) {
            return nullptr;
        }
        auto made = publish::KubeEvents::make(
            need_.api, need_.clock,
            {.node = need_.node,
             .spool_path = need_.may_spool && !settings_.dry_run ? kube_events_path(settings_) : std::string{},
             .dry_run = settings_.dry_run,
             .random = random_share()},
            stream_);
        kube_events_ = made ? made->get() : nullptr;
        return made;
    }

    const publish::Prometheus* metrics = nullptr;

private:
    PublishersNeed need_;
    const AgentConfig& settings_;
    publish::Fanout& fanout_;
    publish::StatusBoard& board_;
    std::shared_ptr<publish::EventStream> stream_;
    const publish::EventLog* event_log_ = nullptr;
    const publish::TapeRecorder* tape_ = nullptr;
    SocketsView* sockets_ = nullptr;
    const publish::KubeEvents* kube_events_ = nullptr;
};

}  // namespace

Result<Publishers> make_publishers(PublishersNeed need) {
    auto board = std::make_unique<publish::StatusBoard>(
        need.agent, publish::PolicyView{
                        .place = policy::place, .rank = policy::rank_again, .scale_down = policy::scale_down_places});
    auto fanout = publish::Fanout::make(publish::Fanout::default_queue, flight_recorder(need, *board));
    if (!fanout) {
        return tl::unexpected(fanout.error());
    }
    const std::string http_address = need.settings.http_address;
    Maker maker(std::move(need), **fanout, *board);
    const std::array rows{
        Maker::Row{&Maker::event_log},     Maker::Row{&Maker::kube_events}, Maker::Row{&Maker::tape},
        Maker::Row{&Maker::console},       Maker::Row{&Maker::sockets},     Maker::Row{&Maker::status},
        Maker::Row{&Maker::status_socket}, Maker::Row{&Maker::prometheus},
    };
    for (const auto& row : rows) {
        if (auto added = maker.add(row); !added) {
            return tl::unexpected(added.error());
        }
    }
    Publishers made{.board = std::move(board), .fanout = std::move(*fanout), .http = nullptr};
    if (maker.metrics != nullptr) {
        made.http = serve(http_address, *maker.metrics, *made.board);
    }
    return made;
}

}  // namespace evictd::app

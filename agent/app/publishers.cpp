// SPDX-License-Identifier: Apache-2.0
#include "app/publishers.hpp"

#include <map>
#include <utility>
#include <vector>

#include <unistd.h>

#include "app/pods_map.hpp"
#include "policy/explain.hpp"
#include "policy/rank.hpp"
#include "publish/console_lines.hpp"
#include "publish/event_log.hpp"
#include "publish/status_socket.hpp"
#include "sys/log.hpp"

namespace evictd::app {
namespace {

using Made = Result<std::unique_ptr<port::Publisher>>;

Result<codec::VictimOrder> rank(const Tick& tick, Signal signal) {
    if (!policy::has_ranking(signal)) {
        return fail(ErrorKind::invalid, std::string(name(signal)), "pods have no order for this signal",
                    "use memory.available");
    }
    codec::VictimOrder order{.signal = signal, .ranking = tick.decision.ranking, .places = {}};
    for (const auto& ranked : order.ranking) {
        order.places.push_back(policy::place(ranked, tick.observation));
    }
    return order;
}

publish::LossCounters losses(const publish::Fanout& fanout, const publish::EventLog& events) {
    return [&fanout, &events] {
        return std::map<std::string, std::uint64_t>{{"records dropped before publishing", fanout.dropped()},
                                                    {"event log lines", events.lost_lines()},
                                                    {"log lines", sys::log::lost()}};
    };
}

}  // namespace

Result<Publishers> make_publishers(PublishersNeed need) {
    Publishers made;
    auto fanout = publish::Fanout::make();
    if (!fanout) {
        return tl::unexpected(fanout.error());
    }
    made.fanout = std::move(*fanout);
    const auto& settings = need.settings;
    const publish::EventLog* event_log = nullptr;
    std::vector<publish::Fanout::Make> makers;
    makers.emplace_back([&](sys::Loop&) -> Made {
        auto events = std::make_unique<publish::EventLog>(
            publish::RotatingFileOptions{settings.event_log_path, settings.event_log_max_size,
                                         settings.event_log_max_files},
            need.node);
        event_log = events.get();
        return events;
    });
    if (settings.events_to_stdout) {
        makers.emplace_back([&](sys::Loop&) -> Made {
            return std::make_unique<publish::ConsoleLines>(STDOUT_FILENO, publish::ConsoleFormat::json, need.node);
        });
    }
    makers.emplace_back([&](sys::Loop&) -> Made {
        auto last = std::make_unique<publish::Snapshot>(std::move(need.status), rank, losses(*made.fanout, *event_log));
        made.snapshot = last.get();
        return last;
    });
    makers.emplace_back([&](sys::Loop& lane) -> Made {
        return publish::StatusSocket::make(lane, need.clock, *made.snapshot,
                                           {settings.socket_path, need.node, settings.event_log_path,
                                            settings.event_log_max_files, std::move(need.request_look)});
    });
    if (need.bpf != nullptr) {
        makers.emplace_back([&](sys::Loop&) -> Made { return std::make_unique<PodsMap>(*need.bpf); });
    }
    for (const auto& maker : makers) {
        if (auto added = made.fanout->add(maker); !added) {
            return tl::unexpected(added.error());
        }
    }
    return made;
}

}  // namespace evictd::app

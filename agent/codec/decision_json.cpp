// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "decision_json.hpp"

#include <algorithm>

#include "evictd/model/text.hpp"
#include "json_value.hpp"
#include "tape_names.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

Json thresholds(const std::vector<MetThreshold>& met) {
    Json list = Json::array();
    for (const auto& each : met) {
        list.push_back({{"signal", name(each.threshold.signal)}, {"kind", each.threshold.hard() ? "hard" : "soft"}});
    }
    return list;
}

Json eviction(const Eviction& evict, const Observation& observation) {
    Json json{{"pod", pod_name(evict.pod, observation)}};
    if (!evict.broken_limit && evict.rejected_for.empty()) json["signal"] = name(evict.threshold.threshold.signal);
    json["grace_period_seconds"] = std::chrono::duration_cast<std::chrono::seconds>(evict.grace_period).count();
    json["message"] = evict.message;
    return json;
}

// Left out where it has nothing to say.
void add(Json& line, const char* key, Json list) {
    if (!list.empty()) line[key] = std::move(list);
}

template <class Range>
Json listed(const Range& values, const auto& each) {
    Json list = Json::array();
    for (const auto& value : values) list.push_back(each(value));
    return list;
}

Json ranking(const Decision& decision, const Observation& observation) {
    return listed(decision.ranking,
                  [&](const RankedPod& ranked) { return observation.pods[ranked.pod].pod->full_name(); });
}

Json finished(const Victim& victim) {
    Json json{{"pod", victim.pod_name}};
    if (victim.failed) json["failed"] = true;
    if (!victim.error.empty()) json["error"] = victim.error;
    return json;
}

Json pod_status(const DesiredPodStatus& desired) {
    Json json{{"pod", desired.name_space + "/" + desired.name},
              {"end", name(desired.end)},
              {"attempt", desired.attempt},
              {"reason", desired.reason},
              {"message", desired.message},
              {"disruption_target", desired.disruption_target}};
    if (desired.given_up) json["given_up"] = true;
    if (desired.grace_period) json["grace_period_seconds"] = desired.grace_period->count();
    return json;
}

Json node_status(const DesiredNodeStatus& status) {
    Json conditions = Json::object();
    for (const auto& condition : status.conditions) conditions[condition.type] = condition.status;
    return {{"conditions", std::move(conditions)},
            {"taints", listed(status.taints, [](const Taint& taint) { return taint.key + ":" + taint.effect; })}};
}

Json desired_garbage(const DesiredGarbage& garbage, const Observation& observation) {
    Json json{{"pass", garbage.pass}};
    if (garbage.forced) json["forced"] = true;
    add(json, "removals",
        listed(garbage.removals, [](const Garbage& one) { return std::string(name(one.kind)) + " " + one.id; }));
    if (garbage.inventory_since) json["inventory_age_ns"] = (observation.at - *garbage.inventory_since).count();
    if (garbage.deadline != MonotonicTime{}) json["ends_in_ns"] = (garbage.deadline - observation.at).count();
    return json;
}

void add_waits(Json& line, const Decision& decision, const Observation& observation) {
    if (const auto& awaited = decision.awaited) {
        line["awaited"] = {{"uid", awaited->largest.pod.value},
                           {"count", awaited->count},
                           {"working_set", awaited->together.value},
                           {"first", pod_name(awaited->first, observation)},
                           {"ends_in_ns", (awaited->until - observation.at).count()}};
    }
    if (const auto& unknown = decision.disk_unknown) {
        line["disk_unknown"] = {{"first", observation.pods[unknown->first].pod->full_name()},
                                {"count", unknown->count},
                                {"ends_in_ns", (unknown->until - observation.at).count()}};
    }
}

}  // namespace

std::string pod_name(const PodUid& uid, const Observation& observation) {
    const auto found = std::find_if(observation.pods.begin(), observation.pods.end(),
                                    [&](const ObservedPod& observed) { return observed.pod->uid == uid; });
    return found == observation.pods.end() ? uid.value : found->pod->full_name();
}

std::string decision_line(const Decision& decision, const Observation& observation) {
    Json line;
    line["at"] = rfc3339(observation.wall);
    line["thresholds_met"] = thresholds(decision.thresholds_met);
    add(line, "thresholds_pending", thresholds(decision.thresholds_pending));
    line["conditions"] = listed(decision.conditions, [](Condition condition) { return name(condition); });
    add(line, "reclaim", listed(decision.reclaim, [](NodeReclaim reclaim) { return name(reclaim); }));
    line["evict"] = decision.evict ? eviction(*decision.evict, observation) : Json();
    line["ranking"] = decision.evict ? ranking(decision, observation) : Json();
    add(line, "limit_evictions", listed(decision.limit_evictions, [&](const Eviction& each) {
            return Json{{"pod", pod_name(each.pod, observation)}, {"message", each.message}};
        }));
    add(line, "rejections", listed(decision.rejections, [&](const Eviction& each) {
            return Json{{"pod", pod_name(each.pod, observation)}, {"message", each.message}};
        }));
    add(line, "shed_sockets", listed(decision.shed, [](const ShedPod& shed) { return shed.pod_name; }));
    add(line, "ladder", listed(decision.ladder, [](const Rung& rung) {
            return Json{{"rung", name(rung.kind)}, {"pod", rung.pod_name}, {"bytes", rung.bytes.value}};
        }));
    add(line, "actions", listed(decision.actions, [](const Action& action) {
            return Json{{"kind", name(action.kind)}, {"pod", action.pod_name}};
        }));
    add(line, "in_flight", listed(decision.in_flight, [](const Victim& victim) { return victim.pod_name; }));
    add(line, "finished", listed(decision.finished, finished));
    add_waits(line, decision, observation);
    if (const auto& out = decision.exhaustion) {
        line["exhaustion"] = {{"signal", name(out->signal)},
                              {"left_ns", out->left.count()},
                              {"falls", out->falls.value},
                              {"pod", out->pod.value},
                              {"share_percent", out->share_percent}};
    }
    add(line, "disk_exhaustion", listed(decision.disk_exhaustion, [](const DiskExhaustion& out) {
            return Json{{"signal", name(out.signal)}, {"left_ns", out.left.count()},
                        {"line", out.line.value},     {"falls", out.falls.value},
                        {"pod", out.pod.value},       {"share_percent", out.share_percent}};
        }));
    if (decision.look_again_at) line["look_again_in_ns"] = (*decision.look_again_at - observation.at).count();
    add(line, "notes", listed(decision.notes, [](const std::string& note) { return note; }));
    line["why"] = decision.why;
    return dump_line(line);
}

std::string desired_line(const Decision& decision, const Observation& observation) {
    const auto mark = [](const Watermark& line) { return Json{{name(line.signal), line.threshold.value}}; };
    const auto& watch = decision.watch;
    Json line;
    line["steer_to"] = decision.steer_to ? Json(pod_name(*decision.steer_to, observation)) : Json();
    line["lines"] = watch.lines ? listed(*watch.lines, mark) : Json();
    add(line, "approaches", listed(watch.approaches, mark));
    add(line, "stall_lines", listed(watch.stall_lines, [](const StallLine& stall) {
            return Json{{"scope", name(stall.scope)}, {"window", name(stall.window)}, {"lost_ns", stall.lost.count()}};
        }));
    line["memory"] = name(watch.counted);
    line["exits"] = watch.exits;
    add(line, "pod_statuses", listed(decision.pod_statuses, pod_status));
    add(line, "end_steps", listed(decision.end_steps, [](const EndStep& step) {
            return Json{{"pod", step.desired.name_space + "/" + step.desired.name}, {"step", name(step.kind)}};
        }));
    // The longest is that of a node far from its thresholds, or without disks.
    if (decision.pid_pace > Duration::zero() && decision.pid_pace < std::chrono::seconds(10)) {
        line["pid_pace_ns"] = decision.pid_pace.count();
    }
    if (decision.filesystem_pace > Duration::zero() && decision.filesystem_pace < std::chrono::seconds(10)) {
        line["filesystem_pace_ns"] = decision.filesystem_pace.count();
    }
    const auto& garbage = decision.garbage;
    if (garbage.pass != 0 || garbage.inventory_since) line["garbage"] = desired_garbage(garbage, observation);
    add(line, "removals", listed(decision.removals, [](const Removal& removal) {
            return Json{{"pod", removal.desired.name_space + "/" + removal.desired.name},
                        {"kind", name(removal.kind)},
                        {"attempt", removal.desired.attempt}};
        }));
    if (decision.shutdown != ShutdownWord::none) line["shutdown"] = name(decision.shutdown);
    if (decision.node_status) line["node_status"] = node_status(*decision.node_status);
    return dump_line(line);
}

std::string next_look_line(const Decision& decision, const Observation& observation) {
    const auto& next = decision.next_look;
    Json line{{"in_ns", (next.at - observation.at).count()}, {"why", name(next.why)}};
    if (next.latest != next.at) line["latest_in_ns"] = (next.latest - observation.at).count();
    return dump_line(line);
}

}  // namespace evictd::codec

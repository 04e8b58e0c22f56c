// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// All that is known of a pod as text, to compare pods that were read in two ways. Not its source: that is who said it.
#pragma once

#include <chrono>
#include <sstream>
#include <string>
#include <vector>

#include "evictd/model/pod.hpp"
#include "evictd/model/text.hpp"

namespace evictd::fakes {

inline std::string line_of(const ResourceList& list) {
    const auto text = [](const std::optional<Quantity>& amount) {
        return amount ? to_string(*amount) : std::string("-");
    };
    return text(list.cpu) + "," + text(list.memory) + "," + text(list.ephemeral_storage) +
           (list.hugepages ? ",huge" : "");
}

inline std::string lines_of(const std::vector<Container>& containers) {
    std::ostringstream text;
    for (const auto& one : containers) {
        text << " " << one.name << "=" << one.id << "," << one.restartable << "[" << line_of(one.requests) << "]["
             << line_of(one.limits) << "]";
    }
    return text.str();
}

inline std::string lines_of(const Pod& pod) {
    const auto time = [](const std::optional<WallTime>& at) { return at ? rfc3339(*at) : std::string("-"); };
    const auto seconds = [](const std::optional<std::chrono::seconds>& span) { return span ? span->count() : -1; };
    std::ostringstream text;
    text << "pod " << pod.full_name() << " " << pod.uid.value << " origin " << static_cast<int>(pod.origin) << " qos "
         << (pod.qos ? static_cast<int>(*pod.qos) : -1) << " priority " << pod.priority.value_or(-1) << " "
         << pod.priority_class_name << " node " << pod.node_name << " generation " << pod.generation << "\n";
    text << "containers" << lines_of(pod.containers) << "\ninit" << lines_of(pod.init_containers) << "\n";
    text << "resources " << pod.has_resources << " " << line_of(pod.requests) << " " << line_of(pod.limits)
         << " overhead " << line_of(pod.overhead) << "\nvolumes";
    for (const auto& one : pod.volumes) {
        text << " " << one.name << "," << static_cast<int>(one.kind) << "," << one.in_memory << ","
             << (one.size_limit ? to_string(*one.size_limit) : "-");
    }
    text << "\ntolerations";
    for (const auto& one : pod.tolerations) {
        text << " " << one.key << "," << one.op << "," << one.value << "," << one.effect << ","
             << one.seconds.value_or(-1);
    }
    text << "\nowners";
    for (const auto& one : pod.owners) {
        text << " " << one.kind << "," << one.name << "," << one.uid << "," << one.controller
             << one.block_owner_deletion;
    }
    text << "\ngrace " << pod.termination_grace_period.count() << " deletion " << seconds(pod.deletion_grace_period)
         << " deadline " << seconds(pod.active_deadline) << " phase " << static_cast<int>(pod.phase) << " "
         << pod.status_reason << " ready " << pod.ready << " restarts " << pod.restarts << " " << pod.sidecar_restarts
         << " cost " << pod.deletion_cost << "\ntimes " << time(pod.ready_time) << " " << time(pod.creation_time) << " "
         << time(pod.start_time) << " " << time(pod.deletion_time) << "\n";
    return text.str();
}

}  // namespace evictd::fakes

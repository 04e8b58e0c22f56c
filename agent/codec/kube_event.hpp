// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// core/v1 Events: which part of a Record becomes one, in the kubelet's words, and as JSON. Pure; how often one is sent
// is publish/'s to say.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "event.hpp"
#include "evictd/model/record.hpp"

namespace evictd::codec {

// v1.ObjectReference.
struct KubeObject {
    std::string kind = "Pod";
    std::string name_space;  // empty: a node
    std::string name;
    std::string uid;         // of a node its name, as the kubelet has it
    std::string field_path;  // "spec.containers{web}"
    friend bool operator==(const KubeObject&, const KubeObject&) = default;
};

// client-go's OBJECT.HEX, a DNS subdomain of 253 characters at most: `object` is cut where it has to be, and never ends
// in a dot or hyphen there, which no label may. `hex`: 16 characters at most.
[[nodiscard]] std::string kube_event_name(std::string_view object, std::string_view hex);

struct KubeEvent {
    // Of the event itself: client-go's OBJECT.HEX. One that has a name before it is correlated happens once.
    std::string name;
    KubeObject object;
    Severity severity = Severity::warning;
    std::string reason;
    std::string message;
    std::map<std::string, std::string> annotations;
    WallTime first;
    WallTime last;
    std::uint64_t count = 1;

    // The kubelet's for a node is "default".
    [[nodiscard]] std::string name_space() const { return object.name_space.empty() ? "default" : object.name_space; }
};

// `events`: the Record's, as far as they are to be published. Only evictions have names.
[[nodiscard]] std::vector<KubeEvent> kube_events_of(const Record& record, const std::vector<Event>& events,
                                                    const std::string& node);
// "Attempting to reclaim memory": the kubelet's when a threshold is past its grace period.
[[nodiscard]] KubeEvent reclaim_event(const MetThreshold& met, WallTime time, const std::string& node);

// For POST: the whole Event. `node`: the source's host.
[[nodiscard]] std::string kube_event_json(const KubeEvent& event, const std::string& node);
// For PATCH, of such a text: what an event that happened again changes.
inline constexpr const char* event_patch_type = "application/strategic-merge-patch+json";
[[nodiscard]] std::string kube_event_patch(std::string_view event_json);

// Of such a text: where it belongs. None: it is no Event.
struct KubeEventPlace {
    std::string name_space;
    std::string name;
    std::string reason;
};
[[nodiscard]] std::optional<KubeEventPlace> place_of_event(std::string_view event_json);

}  // namespace evictd::codec

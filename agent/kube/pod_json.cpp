// SPDX-License-Identifier: Apache-2.0
// v1 Pod to model. What is checked is what would make evictd act on the wrong thing: identity, names and amounts.
#include "kube/pod_json.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "kube/field.hpp"
#include "kube/pod_defaults.hpp"
#include "kube/printable.hpp"
#include "kube/timestamp.hpp"

namespace evictd::kube {
namespace {

// kubetypes.ConfigSourceAnnotationKey, ConfigMirrorAnnotationKey and ConfigHashAnnotationKey.
constexpr auto config_source = "kubernetes.io/config.source";
constexpr auto config_mirror = "kubernetes.io/config.mirror";
constexpr auto config_hash = "kubernetes.io/config.hash";

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// RFC 1123 as apimachinery's IsDNS1123Label and IsDNS1123Subdomain check it.
bool is_dns_label(std::string_view text) {
    return !text.empty() && text.size() <= 63 && is_letter_or_digit(text.front()) && is_letter_or_digit(text.back()) &&
           std::all_of(text.begin(), text.end(), [](char c) { return is_letter_or_digit(c) || c == '-'; });
}

bool is_dns_subdomain(std::string_view text) {
    if (text.size() > 253) return false;
    while (true) {
        const auto dot = text.find('.');
        const auto label = text.substr(0, dot);
        // A subdomain's labels have no limit of their own; only the whole has.
        if (label.empty() || !is_letter_or_digit(label.front()) || !is_letter_or_digit(label.back())) return false;
        if (!std::all_of(label.begin(), label.end(), [](char c) { return is_letter_or_digit(c) || c == '-'; }))
            return false;
        if (dot == std::string_view::npos) return true;
        text.remove_prefix(dot + 1);
    }
}

// It becomes part of a cgroup's path, where "_" and "." have meanings of their own. UUIDs and hashes are well within.
bool is_uid(std::string_view text) {
    const auto plain = [](char c) { return is_letter_or_digit(c) || (c >= 'A' && c <= 'Z'); };
    return !text.empty() && text.size() <= 63 && plain(text.front()) && plain(text.back()) &&
           std::all_of(text.begin(), text.end(), [&](char c) { return plain(c) || c == '-'; });
}

std::optional<WallTime> read_time(const Field& field) {
    const auto text = field.text();
    if (!text) return std::nullopt;
    const auto time = parse_rfc3339(*text);
    if (!time) field.refuse("is no time: " + in_quotes(*text), "write it as 2026-01-31T12:00:00Z");
    return time;
}

ResourceList read_resources(const Field& field) {
    return {field["cpu"].quantity(), field["memory"].quantity(), field["ephemeral-storage"].quantity()};
}

// validateResourceRequirements: a request beyond its limit could never have been admitted.
void check_against_limit(const Field& requests, const char* name, const std::optional<Quantity>& request,
                         const std::optional<Quantity>& limit) {
    if (request && limit && *limit < *request)
        requests[name].refuse(
            "must be less than or equal to the " + std::string(name) + " limit of " + to_string(*limit),
            "lower the request, or raise the limit");
}

std::pair<ResourceList, ResourceList> read_requests_and_limits(const Field& field) {
    const Field requests = field["requests"];
    std::pair<ResourceList, ResourceList> read{read_resources(requests), read_resources(field["limits"])};
    check_against_limit(requests, "cpu", read.first.cpu, read.second.cpu);
    check_against_limit(requests, "memory", read.first.memory, read.second.memory);
    check_against_limit(requests, "ephemeral-storage", read.first.ephemeral_storage, read.second.ephemeral_storage);
    return read;
}

std::string read_name(const Field& field, bool (*is_valid)(std::string_view), const char* rule) {
    const auto name = field.text();
    if (!name && !field.present()) field.refuse("is missing", rule);
    if (name && !is_valid(*name)) field.refuse("is no valid name: " + in_quotes(*name), rule);
    return name.value_or("");
}

Container read_container(const Field& field) {
    Container container;
    container.name = read_name(field["name"], is_dns_label, "use up to 63 lower case letters, digits and dashes");
    std::tie(container.requests, container.limits) = read_requests_and_limits(field["resources"]);
    container.restartable = field["restartPolicy"].text() == "Always";
    return container;
}

std::vector<Container> read_containers(const Field& list) {
    std::vector<Container> containers;
    for (const Field& element : list.elements()) {
        Container container = read_container(element);
        const bool taken = std::any_of(containers.begin(), containers.end(),
                                       [&](const Container& other) { return other.name == container.name; });
        if (taken)
            element["name"].refuse("is used twice: " + in_quotes(container.name), "give each container its own name");
        containers.push_back(std::move(container));
    }
    return containers;
}

// kubetypes.GetPodSource, IsMirrorPod.
PodOrigin origin_of(const std::map<std::string, std::string>& annotations) {
    if (annotations.contains(config_mirror)) return PodOrigin::mirror;
    const auto source = annotations.find(config_source);
    return source != annotations.end() && source->second != "api" ? PodOrigin::static_file : PodOrigin::api;
}

// The uid the kubelet names the pod's cgroup by. A mirror pod's own uid is another: its cgroup is that of the static
// pod it stands for, whose uid is the hash (config.generatePodName and applyDefaults).
PodUid read_uid(const Field& metadata, PodOrigin origin, const std::map<std::string, std::string>& annotations) {
    const Field field = metadata["uid"];
    const auto hash = annotations.find(config_hash);
    std::string uid = field.text().value_or("");
    const bool by_hash = hash != annotations.end() && (origin == PodOrigin::mirror || uid.empty());
    if (by_hash) uid = hash->second;
    if (uid.empty()) {
        field.refuse("is missing", std::string("a file needs metadata.uid, or the annotation ") + config_hash +
                                       ", to be matched with a pod's cgroup");
    } else if (!is_uid(uid)) {
        (by_hash ? metadata["annotations"][config_hash] : field)
            .refuse("is no valid uid: " + in_quotes(uid), "use up to 63 letters, digits and dashes");
    }
    return {std::move(uid)};
}

void read_metadata(const Field& metadata, std::optional<PodOrigin> origin, Pod& pod) {
    if (!metadata.present()) metadata.refuse("is missing", "give the pod a metadata.name");
    pod.name =
        read_name(metadata["name"], is_dns_subdomain, "use up to 253 lower case letters, digits, dashes and dots");
    pod.name_space = metadata["namespace"].text().value_or("");
    if (pod.name_space.empty()) pod.name_space = "default";
    if (!is_dns_label(pod.name_space))
        metadata["namespace"].refuse("is no valid name: " + in_quotes(pod.name_space),
                                     "use up to 63 lower case letters, digits and dashes");
    pod.annotations = metadata["annotations"].texts();
    pod.origin = origin.value_or(origin_of(pod.annotations));
    pod.uid = read_uid(metadata, pod.origin, pod.annotations);
    pod.creation_time = read_time(metadata["creationTimestamp"]);
    pod.deletion_time = read_time(metadata["deletionTimestamp"]);
}

std::chrono::seconds read_grace(const Field& field) {
    constexpr std::int64_t longest =
        std::numeric_limits<std::int32_t>::max();  // 68 years, which nanoseconds still hold
    // The kubelet gives nobody less than 1 s (pod_workers calculateEffectiveGracePeriod); only a negative one is lifted
    // here, so that 0 stays what was written.
    const std::int64_t grace = field.integer().value_or(30);
    return std::chrono::seconds(grace < 0 ? 1 : std::min(grace, longest));
}

std::optional<std::int32_t> read_priority(const Field& field) {
    const auto priority = field.integer();
    if (!priority) return std::nullopt;
    if (std::in_range<std::int32_t>(*priority)) return static_cast<std::int32_t>(*priority);
    field.refuse("does not fit 32 bits: " + std::to_string(*priority), "use a priority below 2147483648");
    return std::nullopt;
}

void read_spec(const Field& spec, Pod& pod) {
    if (!spec.present()) return spec.refuse("is missing", "a pod needs spec.containers");
    pod.containers = read_containers(spec["containers"]);
    pod.init_containers = read_containers(spec["initContainers"]);
    if (pod.containers.empty()) spec["containers"].refuse("is missing or empty", "a pod needs at least one container");
    std::tie(pod.requests, pod.limits) = read_requests_and_limits(spec["resources"]);
    pod.overhead = read_resources(spec["overhead"]);
    pod.priority = read_priority(spec["priority"]);
    pod.priority_class_name = spec["priorityClassName"].text().value_or("");
    pod.termination_grace_period = read_grace(spec["terminationGracePeriodSeconds"]);
}

PodPhase read_phase(const Field& field) {
    constexpr std::array<std::pair<std::string_view, PodPhase>, 5> phases{{{"Pending", PodPhase::pending},
                                                                           {"Running", PodPhase::running},
                                                                           {"Succeeded", PodPhase::succeeded},
                                                                           {"Failed", PodPhase::failed},
                                                                           {"Unknown", PodPhase::unknown}}};
    const auto text = field.text();
    if (!text || text->empty()) return PodPhase::pending;
    for (const auto& [name, phase] : phases)
        if (*text == name) return phase;
    field.refuse("is no phase: " + in_quotes(*text), "use Pending, Running, Succeeded, Failed or Unknown");
    return PodPhase::unknown;
}

void check_type(const Field& object) {
    const auto version = object["apiVersion"].text();
    const auto kind = object["kind"].text();
    if (version && *version != "v1") object["apiVersion"].refuse("is " + in_quotes(*version), "only v1 Pods are read");
    if (kind && *kind != "Pod") object["kind"].refuse("is " + in_quotes(*kind), "only v1 Pods are read");
}

}  // namespace

Result<Pod> pod_from_json(const nlohmann::json& object, const std::string& source, std::optional<PodOrigin> origin) {
    std::optional<Error> fault;
    const Field whole(object, fault);
    Pod pod;
    pod.source = source;
    check_type(whole);
    read_metadata(whole["metadata"], origin, pod);
    read_spec(whole["spec"], pod);
    const Field status = whole["status"];
    pod.phase = read_phase(status["phase"]);
    pod.start_time = read_time(status["startTime"]);
    if (fault) return tl::unexpected(std::move(*fault));
    apply_defaults(pod);
    return pod;
}

}  // namespace evictd::kube

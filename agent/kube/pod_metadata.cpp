// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A uid becomes part of a cgroup's path and a name part of an API call: both are checked before anybody builds one.
#include "kube/pod_metadata.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "evictd/model/text.hpp"

namespace evictd::kube {
namespace {

// kubetypes.ConfigSourceAnnotationKey, ConfigMirrorAnnotationKey and ConfigHashAnnotationKey.
constexpr auto config_source = "kubernetes.io/config.source";
constexpr auto config_mirror = "kubernetes.io/config.mirror";
constexpr auto config_hash = "kubernetes.io/config.hash";
constexpr auto pod_deletion_cost = "controller.kubernetes.io/pod-deletion-cost";

constexpr std::size_t longest_name = 253;  // apimachinery's DNS1123SubdomainMaxLength

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// IsDNS1123Subdomain.
bool is_dns_subdomain(std::string_view text) {
    if (text.size() > longest_name) return false;
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

void read_name(const Value& metadata, const PodRules& rules, Pod& pod) {
    constexpr auto rule = "use up to 253 lower case letters, digits, dashes and dots";
    const Value field = metadata["name"];
    const auto name = field.text();
    if (!field.present()) field.refuse("missing", rule);
    const auto is_valid = rules.uid_required ? is_dns_subdomain : is_one_word;
    if (name && !is_valid(*name)) field.refuse("invalid name " + in_quotes(*name), rule);
    pod.name = name.value_or("");
}

void read_name_space(const Value& metadata, const PodRules& rules, Pod& pod) {
    const Value field = metadata["namespace"];
    pod.name_space = field.text().value_or("");
    if (pod.name_space.empty()) pod.name_space = "default";
    const auto is_valid = rules.uid_required ? is_dns_label : is_one_word;
    if (!is_valid(pod.name_space))
        field.refuse("invalid name " + in_quotes(pod.name_space), "use up to 63 lower case letters, digits and dashes");
}

// kubetypes.GetPodSource, IsMirrorPod.
PodOrigin origin_of(const std::map<std::string, std::string>& annotations) {
    if (annotations.contains(config_mirror)) return PodOrigin::mirror;
    const auto source = annotations.find(config_source);
    return source != annotations.end() && source->second != "api" ? PodOrigin::static_file : PodOrigin::api;
}

// What a manifest says of itself grants nothing, so its source decides. A mirror pod has no cgroup of its own: what has
// a uid of its own is none.
PodOrigin origin_of(const Value& metadata, const PodRules& rules,
                    const std::map<std::string, std::string>& annotations) {
    if (!rules.origin) return origin_of(annotations);
    const bool stands_for_another = annotations.contains(config_mirror) && annotations.contains(config_hash);
    const bool own_uid = !metadata["uid"].text().value_or("").empty();
    return *rules.origin == PodOrigin::api && stands_for_another && !own_uid ? PodOrigin::mirror : *rules.origin;
}

// The uid the kubelet names the pod's cgroup by. A mirror pod's own uid is another: its cgroup is that of the static
// pod that it mirrors, whose uid is the hash (config.generatePodName and applyDefaults).
void read_uid(const Value& metadata, const PodRules& rules, Pod& pod) {
    const Value field = metadata["uid"];
    const auto hash = pod.annotations.find(config_hash);
    std::string uid = field.text().value_or("");
    const bool by_hash = hash != pod.annotations.end() && (pod.origin == PodOrigin::mirror || uid.empty());
    if (by_hash) uid = hash->second;
    if (uid.empty() && !rules.uid_required) {
        uid = pod.full_name();
    } else if (uid.empty()) {
        field.refuse("missing", std::string("a file needs metadata.uid, or the annotation ") + config_hash +
                                    ", to be matched with a pod's cgroup");
    } else if (!(rules.uid_required ? is_uid(uid) : is_one_word(uid))) {
        (by_hash ? metadata["annotations"][config_hash] : field)
            .refuse("invalid uid " + in_quotes(uid), "use up to 63 letters, digits and dashes");
    }
    pod.uid = PodUid{std::move(uid)};
}

std::vector<OwnerReference> read_owners(const Value& list) {
    std::vector<OwnerReference> owners;
    for (const Value& element : list.elements()) {
        owners.push_back({element["kind"].text().value_or(""), element["name"].text().value_or(""),
                          element["uid"].text().value_or(""), element["controller"].boolean().value_or(false),
                          element["blockOwnerDeletion"].boolean().value_or(false)});
    }
    return owners;
}

// helper.GetDeletionCostFromPodAnnotations, whose callers take what it refuses for 0: no plus sign, no leading zero.
std::int32_t deletion_cost_of(const std::map<std::string, std::string>& annotations) {
    const auto found = annotations.find(pod_deletion_cost);
    if (found == annotations.end()) return 0;
    const std::string& text = found->second;
    const bool starts_well = text == "0" || text.starts_with('-') || (!text.empty() && text[0] >= '1');
    std::int32_t cost = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cost);
    return starts_well && error == std::errc{} && end == text.data() + text.size() ? cost : 0;
}

}  // namespace

bool is_dns_label(std::string_view text) {
    return !text.empty() && text.size() <= 63 && is_letter_or_digit(text.front()) && is_letter_or_digit(text.back()) &&
           std::all_of(text.begin(), text.end(), [](char c) { return is_letter_or_digit(c) || c == '-'; });
}

bool is_one_word(std::string_view text) {
    return !text.empty() && text.size() <= longest_name && std::all_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) > ' ' && c != '/' && c != '\x7f';
    });
}

void read_metadata(const Value& metadata, const PodRules& rules, Pod& pod) {
    if (!metadata.present()) metadata.refuse("missing", "give the pod a metadata.name");
    read_name(metadata, rules, pod);
    read_name_space(metadata, rules, pod);
    pod.annotations = metadata["annotations"].texts();
    pod.origin = origin_of(metadata, rules, pod.annotations);
    read_uid(metadata, rules, pod);
    pod.owners = read_owners(metadata["ownerReferences"]);
    pod.creation_time = metadata["creationTimestamp"].time();
    pod.deletion_time = metadata["deletionTimestamp"].time();
    pod.deletion_grace_period = metadata["deletionGracePeriodSeconds"].seconds();
    pod.generation = metadata["generation"].integer(0).value_or(0);
    pod.deletion_cost = deletion_cost_of(pod.annotations);
}

}  // namespace evictd::kube

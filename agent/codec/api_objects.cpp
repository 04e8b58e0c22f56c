// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "api_objects.hpp"

#include <algorithm>

#include "evictd/model/text.hpp"
#include "json_value.hpp"

namespace evictd::codec {
namespace {

using ApiJson = nlohmann::ordered_json;
// For reading: ordered_json copies what it holds as it grows, so a deep value would end the stack.
using ReadJson = nlohmann::json;

constexpr std::size_t most_of_a_message = 32768;
// Of status.reason: a CamelCase word (metav1.Condition).
constexpr std::size_t most_of_a_reason = 1024;
constexpr auto disruption_target = "DisruptionTarget";

bool is_api_name(std::string_view text, std::size_t longest, bool may_have_dots) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    const bool is_plain = std::all_of(text.begin(), text.end(),
                                      [&](char c) { return is_letter(c) || c == '-' || (c == '.' && may_have_dots); });
    return is_plain && !text.empty() && text.size() <= longest && is_letter(text.front()) && is_letter(text.back());
}

std::string path_of(const DesiredPodStatus& pod) {
    return "/api/v1/namespaces/" + pod.name_space + "/pods/" + pod.name;
}

// Not in the middle of a character.
std::string cut(const std::string& text, std::size_t longest) {
    if (text.size() <= longest) return text;
    auto end = longest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) end--;
    return text.substr(0, end);
}

// metav1.Time has seconds; more are accepted and dropped.
std::string api_time(WallTime at) { return rfc3339(at).substr(0, 19) + "Z"; }

ApiJson condition_of(const DesiredPodStatus& pod, WallTime at) {
    ApiJson condition{{"type", disruption_target},
                      {"status", pod.given_up ? "False" : "True"},
                      {"reason", "TerminationByKubelet"},
                      {"message", cut(pod.message, most_of_a_message)},
                      {"lastTransitionTime", api_time(at)}};
    if (pod.generation > 0) condition["observedGeneration"] = pod.generation;
    return condition;
}

ApiJson delete_options(const DesiredPodStatus& pod) {
    ApiJson options{
        {"kind", "DeleteOptions"}, {"apiVersion", "v1"}, {"preconditions", ApiJson{{"uid", pod.pod.value}}}};
    if (pod.grace_period) options["gracePeriodSeconds"] = pod.grace_period->count();
    return options;
}

ReadJson parsed(std::string_view body) {
    auto json = ReadJson::parse(body, nullptr, false);
    return json.is_object() ? json : ReadJson::object();
}

// A key that is missing or of another type is absent.
const ReadJson& at_key(const ReadJson& json, const char* key, ReadJson::value_t type) {
    static const ReadJson none;
    if (!json.is_object()) return none;
    const auto found = json.find(key);
    return found != json.end() && found->type() == type ? *found : none;
}
std::string word_at(const ReadJson& json, const char* key) {
    const auto& found = at_key(json, key, ReadJson::value_t::string);
    return found.is_string() ? found.get<std::string>() : std::string();
}
const ReadJson& part_at(const ReadJson& json, const char* key) { return at_key(json, key, ReadJson::value_t::object); }
const ReadJson& rows_at(const ReadJson& json, const char* key) { return at_key(json, key, ReadJson::value_t::array); }

}  // namespace

bool has_api_name(const DesiredPodStatus& pod) {
    return is_api_name(pod.name_space, 63, false) && is_api_name(pod.name, 253, true);
}

ApiMessage status_patch(const DesiredPodStatus& pod, WallTime at, std::string_view annotation) {
    ApiJson metadata{{"uid", pod.pod.value}};
    ApiJson status = ApiJson::object();
    if (!pod.given_up) {
        metadata["annotations"] = ApiJson{{evicted_annotation, annotation}};
        status = {{"phase", "Failed"},
                  {"reason", cut(pod.reason, most_of_a_reason)},
                  {"message", cut(pod.message, most_of_a_message)}};
    }
    if (pod.disruption_target || pod.given_up) status["conditions"] = ApiJson::array({condition_of(pod, at)});
    return {.method = "PATCH",
            .path = path_of(pod) + "/status",
            .content_type = "application/strategic-merge-patch+json",
            .body = dump_line({{"metadata", std::move(metadata)}, {"status", std::move(status)}})};
}

ApiMessage eviction_post(const DesiredPodStatus& pod, EvictionApi api) {
    const ApiJson eviction{{"apiVersion", api == EvictionApi::v1 ? "policy/v1" : "policy/v1beta1"},
                           {"kind", "Eviction"},
                           {"metadata", {{"name", pod.name}, {"namespace", pod.name_space}}},
                           {"deleteOptions", delete_options(pod)}};
    return {.method = "POST",
            .path = path_of(pod) + "/eviction",
            .content_type = "application/json",
            .body = dump_line(eviction)};
}

ApiMessage pod_deletion(const DesiredPodStatus& pod) {
    return {.method = "DELETE",
            .path = path_of(pod),
            .content_type = "application/json",
            .body = dump_line(delete_options(pod))};
}

ApiMessage pod_request(const DesiredPodStatus& pod) {
    return {.method = "GET", .path = path_of(pod), .content_type = {}, .body = {}};
}

// The uid: 422 Invalid on metadata.uid for a PATCH; 409 Conflict for an Eviction or a DELETE, in the words of the store
// (storage.Preconditions.Check) or of rest.BeforeDelete.
ApiRefusal read_refusal(std::string_view body) {
    const auto json = parsed(body);
    if (word_at(json, "kind") != "Status") return {.message = excerpt(body, 200)};
    const auto& details = part_at(json, "details");
    const auto message = word_at(json, "message");
    const auto says = [&](std::string_view words) { return message.find(words) != std::string::npos; };
    ApiRefusal refusal{.reason = word_at(json, "reason"),
                       .message = excerpt(message, 200),
                       .kind = word_at(details, "kind"),
                       .name = word_at(details, "name"),
                       .is_about_uid = says("UID in precondition") || says("UID in the precondition"),
                       .is_of_version = says("no kind \"") && says("is registered for version")};
    for (const auto& cause : rows_at(details, "causes")) {
        if (word_at(cause, "field") == "metadata.uid") refusal.is_about_uid = true;
        if (word_at(cause, "reason") == "DisruptionBudget") refusal.is_by_budget = true;
    }
    return refusal;
}

Result<PodInApi> read_pod_in_api(std::string_view body) {
    const auto json = parsed(body);
    const auto& metadata = part_at(json, "metadata");
    const auto& status = part_at(json, "status");
    const auto& annotations = part_at(metadata, "annotations");
    PodInApi pod{.uid = word_at(metadata, "uid"),
                 .node = word_at(part_at(json, "spec"), "nodeName"),
                 .phase = word_at(status, "phase"),
                 .reason = word_at(status, "reason"),
                 .is_deleting = !word_at(metadata, "deletionTimestamp").empty(),
                 .mirror_of = word_at(annotations, "kubernetes.io/config.mirror"),
                 .hash_of = word_at(annotations, "kubernetes.io/config.hash")};
    if (word_at(json, "kind") != "Pod" || pod.uid.empty()) {
        return fail(ErrorKind::invalid, "API server", "its answer is not a pod: " + excerpt(body));
    }
    for (const auto& condition : rows_at(status, "conditions")) {
        if (word_at(condition, "type") == disruption_target) {
            pod.disruption_target = word_at(condition, "status") == "True";
        }
    }
    return pod;
}

}  // namespace evictd::codec

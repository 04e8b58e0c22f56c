// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Requests and refusals of the status socket, both ways.
#include "status_request.hpp"

#include <nlohmann/json.hpp>

#include "evictd/model/text.hpp"
#include "json_value.hpp"

namespace evictd {

template <>
struct Names<ErrorKind> {
    static constexpr Words<6> words{"failed", "invalid", "not_permitted", "vanished", "unreachable", "exhausted"};
};

}  // namespace evictd

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

// Ten years: more is a mistake, and would leave the range of nanoseconds.
constexpr std::int64_t longest_since_ms = std::int64_t{10} * 365 * 24 * 3600 * 1000;

tl::unexpected<Error> refuse(std::string why, std::string remedy = {}) {
    return fail(ErrorKind::invalid, "request", std::move(why), std::move(remedy));
}

Result<std::optional<Duration>> since_from(const Json& json) {
    if (!json.contains("since_ms")) return std::nullopt;
    const auto since = number_at(json, "since_ms");
    if (!since || *since < 0 || *since > longest_since_ms) return refuse("since_ms is not a time span");
    return std::chrono::milliseconds(*since);
}

}  // namespace

std::string to_json_line(const StatusRequest& request) {
    Json json{{"verb", name(request.verb)}};
    if (request.verb == RequestVerb::rank && request.order == RankOrder::victims) json["signal"] = name(request.signal);
    if (request.order != RankOrder::victims) json["order"] = name(request.order);
    if (request.follow) json["follow"] = true;
    if (request.since) json["since_ms"] = std::chrono::ceil<std::chrono::milliseconds>(*request.since).count();
    if (!request.reason.empty()) json["reason"] = request.reason;
    if (!request.id.empty()) json["id"] = request.id;
    return dump_line(json);
}

Result<StatusRequest> request_from_json(std::string_view line) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return refuse("not a JSON object", R"(such as {"verb":"status"})");
    const auto verb = text_at(json, "verb");
    StatusRequest request;
    const auto known = from_name<RequestVerb>(verb);
    if (!known) {
        return refuse("verb '" + printable(verb.substr(0, 40)) + "' is not known",
                      "one of " + evictd::listed<RequestVerb>());
    }
    request.verb = *known;
    if (json.contains("signal")) {
        const auto signal = signal_from(text_at(json, "signal"));
        if (!signal) return refuse("signal '" + printable(text_at(json, "signal").substr(0, 40)) + "' is not known");
        request.signal = *signal;
    }
    if (json.contains("order")) {
        const auto order = from_name<RankOrder>(text_at(json, "order"));
        if (!order) return refuse("order '" + printable(text_at(json, "order").substr(0, 40)) + "' is not known");
        request.order = *order;
    }
    auto since = since_from(json);
    if (!since) return tl::unexpected(since.error());
    request.since = *since;
    request.follow = flag_at(json, "follow");
    request.reason = text_at(json, "reason");
    request.id = text_at(json, "id");
    return request;
}

std::string health_json_line(const Health& health) {
    Json json{{"v", 1}, {"alive", health.is_alive}, {"ready", health.is_ready}};
    if (!health.detail.empty()) json["detail"] = health.detail;
    return dump_line(json);
}

std::optional<Health> health_from_json(std::string_view line) {
    const Json json = parsed_shallow(line);
    const bool is_one = json.is_object() && json.contains("alive") && json["alive"].is_boolean() &&
                        json.contains("ready") && json["ready"].is_boolean();
    if (!is_one) return std::nullopt;
    return Health{
        .is_alive = flag_at(json, "alive"), .is_ready = flag_at(json, "ready"), .detail = text_at(json, "detail")};
}

std::string error_json_line(const Error& error) {
    Json inner{{"kind", name(error.kind)}, {"what", error.what}, {"why", error.why}};
    if (!error.remedy.empty()) inner["remedy"] = error.remedy;
    return dump_line({{"v", 1}, {"error", std::move(inner)}});
}

std::optional<Error> error_from_json(std::string_view line) {
    const Json json = Json::parse(line, nullptr, false);
    const Json* inner = json.is_object() ? object_at(json, "error") : nullptr;
    if (inner == nullptr) return std::nullopt;
    Error error{ErrorKind::failed, text_at(*inner, "what"), text_at(*inner, "why"), text_at(*inner, "remedy")};
    error.kind = from_name<ErrorKind>(text_at(*inner, "kind")).value_or(ErrorKind::failed);
    return error;
}

}  // namespace evictd::codec

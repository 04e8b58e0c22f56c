// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "status_parts.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "evictd/model/quantity.hpp"
#include "evictd/model/text.hpp"
#include "json_value.hpp"
#include "status_text_pods.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

std::optional<Amount> amount_at(const Json& json, const char* key) {
    const auto quantity = parse_quantity(text_at(json, key));
    return quantity ? std::optional(Amount{quantity->value()}) : std::nullopt;
}

}  // namespace

Result<StatusParts> status_parts(std::string_view json, Signal signal, const TextStyle& style) {
    const Json document = Json::parse(json, nullptr, false);
    if (!document.is_object()) return fail(ErrorKind::invalid, "agent's answer", "not a status document");
    StatusParts parts;
    parts.why = printable(text_at(document, "why"));
    for (const auto& row : list_at(document, "signals")) {
        if (text_at(row, "signal") != name(signal)) continue;
        parts.available = amount_at(row, "available");
        parts.capacity = amount_at(row, "capacity");
    }
    if (const Json* ranking = object_at(document, "ranking")) {
        const auto& pods = list_at(*ranking, "pods");
        parts.pods_measured = static_cast<std::size_t>(std::count_if(pods.begin(), pods.end(), [](const Json& pod) {
            return flag_at(pod, "has_usage") && flag_at(pod, "populated");
        }));
        parts.pods = pods_table(*ranking, Detail::normal, style);
    }
    for (const auto& row : list_at(document, "sources")) {
        parts.sources.push_back({printable(text_at(row, "hook")), printable(text_at(row, "chosen")),
                                 flag_at(row, "fallback"), printable(text_at(row, "detail"))});
    }
    return parts;
}

}  // namespace evictd::codec

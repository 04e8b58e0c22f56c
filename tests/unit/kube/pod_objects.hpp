// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pod objects to test with: the smallest valid one, and variations of it.
#pragma once

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "document/value.hpp"
#include "kube/pod_object.hpp"

namespace evictd::kube {

using nlohmann::json;

inline json minimal() {
    return json::parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "uid": "uid-1"},
                           "spec": {"containers": [{"name": "app"}]}})");
}

inline json with(const char* pointer, const json& value) {
    json object = minimal();
    object[json::json_pointer(pointer)] = value;
    return object;
}

inline tl::expected<Pod, document::Fault> pod_from_json(const json& object, const PodRules& rules = {}) {
    document::Reading reading(document::parse_one(object.dump(), "f.json", document::manifest_limits), "f.json");
    if (auto pod = read_pod(reading.root(), rules)) return std::move(*pod);
    const auto faults = reading.take_faults();
    EXPECT_EQ(faults.size(), 1U);
    return tl::unexpected(faults.empty() ? document::Fault{} : faults.front());
}

inline Pod read(const json& object) {
    auto pod = pod_from_json(object);
    EXPECT_TRUE(pod) << pod.error().text();
    return pod ? *pod : Pod{};
}

inline std::string fault(const json& object) {
    const auto pod = pod_from_json(object);
    return pod ? "none" : pod.error().key + ": " + pod.error().what;
}

// With what would be right.
inline std::string whole_fault(const json& object) {
    const auto pod = pod_from_json(object);
    return pod ? "none" : pod.error().key + ": " + pod.error().what + " (" + pod.error().remedy + ")";
}

}  // namespace evictd::kube

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a kubelet's Pods API sends, put together field by field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fakes/protobuf_bytes.hpp"

namespace evictd::kube::proto {

using namespace evictd::proto;

inline std::string quantity(std::uint32_t field, std::string_view key, std::string_view text) {
    return entry(field, key, bytes(1, text));
}

// As the kubelet encodes one: from the API server, unless `source` says otherwise.
inline std::string pod(const std::string& name, const std::string& source = "api", const std::string& more = "") {
    std::string metadata = bytes(1, name) + bytes(2, "") + bytes(3, "default") + bytes(4, "") + bytes(5, "uid-" + name);
    metadata += bytes(8, "");  // a time that is zero
    if (!source.empty()) metadata += entry(12, "kubernetes.io/config.source", source);
    const auto container = bytes(1, "c") + bytes(8, quantity(2, "memory", "64Mi"));
    return bytes(1, metadata) + bytes(2, bytes(2, container) + bytes(10, "n1") + more) + bytes(3, bytes(1, "Running"));
}

enum class Event : std::uint8_t { unspecified, added, modified, deleted, initial_sync_complete };

inline std::string event(Event type, const std::string& pod = "") {
    return framed(number(1, static_cast<std::int64_t>(type)) + (pod.empty() ? "" : bytes(2, pod)));
}

}  // namespace evictd::kube::proto

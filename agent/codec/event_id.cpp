// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "event_id.hpp"

#include <cstdint>
#include <string_view>

namespace evictd::codec {
namespace {

// FNV-1a over `what` and the time. 40 bits: with 10,000 events in the log, two share an id once in 20,000 logs.
std::string id_of(std::string_view what, MonotonicTime at) {
    constexpr std::uint64_t prime = 0x100000001b3;
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&hash](std::uint8_t byte) { hash = (hash ^ byte) * prime; };
    for (const char c : what) add(static_cast<std::uint8_t>(c));
    const auto time = static_cast<std::uint64_t>(at.time_since_epoch().count());
    for (unsigned shift = 0; shift < 64; shift += 8) add(static_cast<std::uint8_t>(time >> shift));
    constexpr std::string_view digits = "0123456789abcdef";
    std::string id;
    for (unsigned shift = 64; shift > 24; shift -= 4) id += digits[(hash >> (shift - 4)) & 15U];
    return id;
}

}  // namespace

std::string eviction_id(const PodUid& pod, MonotonicTime detected_at) { return id_of(pod.value, detected_at); }

std::string oom_id(const OomKill& kill, MonotonicTime time) {
    return id_of("oom " + std::to_string(kill.pid) + " " + kill.comm, time);
}

}  // namespace evictd::codec

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The causes for which kernel events are lost, as EventsLost::cause says them.
#pragma once

#include <array>

// Why kernel events are lost; all there are, so that each can be counted from zero.
namespace evictd::loss {
inline constexpr const char* watermark = "watermark: ring buffer full";
inline constexpr const char* oom_kill = "oom kill: ring buffer full";
inline constexpr const char* cgroup = "cgroup: ring buffer full";
inline constexpr const char* memcg = "memcg: ring buffer full";
inline constexpr const char* sockets = "socket memory: ring buffer full";
inline constexpr const char* oom_score = "oom_score_adj: ring buffer full";
inline constexpr const char* stall = "stall: ring buffer full";
inline constexpr const char* undecodable = "record that could not be decoded";
inline constexpr const char* cgroup_watch = "cgroup watch: the inotify queue was full";
inline constexpr std::array all{watermark, oom_kill, cgroup,      memcg,       sockets,
                                oom_score, stall,    undecodable, cgroup_watch};
}  // namespace evictd::loss

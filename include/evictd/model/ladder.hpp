// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The ladder before the kill: what relieves memory without ending anybody, how it is configured, and what came of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/ids.hpp"
#include "evictd/model/names.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

// From the gentlest on.
enum class RungKind : std::uint8_t {
    reclaim,  // page cache is asked back: memory.reclaim
    squeeze,  // the pod grows no further: memory.high
    freeze,   // the pod is frozen briefly: cgroup.freeze, or v1's freezer
};
template <>
struct Names<RungKind> {
    static constexpr Words<3> words{"reclaim", "squeeze", "freeze"};
};

struct LadderConfig {
    bool reclaim = true;
    bool squeeze = false;
    Duration squeeze_for = std::chrono::seconds(30);  // at most; then it is left alone for as long
    bool freeze = false;
    Duration freeze_for = std::chrono::milliseconds(500);  // likewise
    [[nodiscard]] bool any() const { return reclaim || squeeze || freeze; }
    friend bool operator==(const LadderConfig&, const LadderConfig&) = default;
};

// A pod on a rung.
struct Rung {
    RungKind kind = RungKind::reclaim;
    PodUid pod;
    std::string pod_name;  // namespace/name, for people
    CgroupId cgroup;
    Bytes bytes;          // reclaim: how much is asked back; squeeze: the limit; freeze: 0
    MonotonicTime until;  // over by then, whatever happens
    friend bool operator==(const Rung&, const Rung&) = default;
};

enum class RungStatus : std::uint8_t {
    begun,
    ended,   // and nothing is left of it
    failed,  // `error` says why; nothing is left of it
};

// What came of a rung. Whether it was enough, the readings say.
struct RungOutcome {
    Rung rung;
    RungStatus status = RungStatus::begun;
    MonotonicTime at;
    Duration took{0};        // ended: since it was begun
    Bytes bytes;             // ended: given back by a reclaim
    bool cut_short = false;  // ended: because it was not wanted any more
    bool dry_run = false;
    std::string error;  // ended: what was found changed by somebody else, and left so
};

// What is remembered of rungs from one look to the next.
struct LadderState {
    std::vector<Rung> held;                // wanted since an earlier look
    std::vector<Rung> resting;             // over; `until`: not to be begun again before
    std::optional<MonotonicTime> near_at;  // when a memory threshold was near last
};

}  // namespace evictd

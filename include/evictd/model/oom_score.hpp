// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// oom_score_adj: what the kernel adds to a process's badness, in thousandths of the memory that may be used. -1000 is
// "never", 1000 "before everybody".
#pragma once

#include <algorithm>

namespace evictd {

inline constexpr int highest_oom_score_adj = 1000;

// Both ends count.
struct ScoreRange {
    int least = 0;
    int most = 0;
    [[nodiscard]] bool contains(int score) const { return least <= score && score <= most; }
    [[nodiscard]] int nearest(int score) const { return std::clamp(score, least, most); }
    friend bool operator==(const ScoreRange&, const ScoreRange&) = default;
};

}  // namespace evictd

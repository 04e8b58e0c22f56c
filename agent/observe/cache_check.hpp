// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Two ways lead to the pods' page cache: the rows of a pass and the count of the kernel's timer. Where they differ, one
// of them is wrong, and the memory controller itself is asked before anything is decided on either. It reports; it
// judges no threshold.
#pragma once

#include <optional>
#include <string>

#include "evictd/port/cgroups.hpp"

namespace evictd::observe {

class CacheCheck {
public:
    // `usage` must outlive it.
    explicit CacheCheck(port::UsageSource& usage) : usage_(usage) {}

    // The pods' page cache: `counted`, which a pass came to, unless `uncertain` is set, or the timer came to something
    // else at that time. Then it is the controller's figure; without `uncertain` only if that agrees with one of the
    // two. None: it is needed and cannot be read.
    [[nodiscard]] std::optional<port::RootCount> settle(const port::RootCount& counted, bool uncertain);

    // Why the counts cannot be taken as they are; the same words for as long as that lasts. Empty: they agree.
    [[nodiscard]] const std::string& trouble() const { return trouble_; }

private:
    port::UsageSource& usage_;
    int differed_ = 0;  // comparisons in a row
    std::string trouble_;
};

// What may be page cache and is not counted as such yet: charged, of no kind that the controller knows, and no more
// than the page cache of the whole node that it has not counted. The kernel adds up all counters every 2 s (FLUSH_TIME
// in mm/memcontrol.c), whatever changed. Memory that is charged and never of any kind, such as an unmapped page that a
// pipe holds, is none.
[[nodiscard]] Bytes late_cache(const port::RootCount& controller, Bytes usage, Bytes uncounted_cache);

}  // namespace evictd::observe

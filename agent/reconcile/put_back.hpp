// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What came of putting back: for the agent's log, and for `evictd undo`, which lists it.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "evictd/model/result.hpp"

namespace evictd::reconcile {

struct PutBack {
    std::vector<std::string> done;  // "thawed /kubepods/podweb"
    std::vector<std::string> left;  // what needs no undoing, and why: it is gone, or another program has changed it
    std::vector<Error> failed;      // what is still as the killed agent left it, or is unknown

    [[nodiscard]] bool nothing() const { return done.empty() && left.empty() && failed.empty(); }
    void add(PutBack more) {
        std::move(more.done.begin(), more.done.end(), std::back_inserter(done));
        std::move(more.left.begin(), more.left.end(), std::back_inserter(left));
        std::move(more.failed.begin(), more.failed.end(), std::back_inserter(failed));
    }
};

}  // namespace evictd::reconcile

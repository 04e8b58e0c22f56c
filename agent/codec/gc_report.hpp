// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What `evictd gc` would remove or has removed, as text for people and JSON for tools. It chooses and removes nothing;
// app/collect_garbage does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evictd/model/garbage.hpp"
#include "text_style.hpp"

namespace evictd::codec {

struct GcDone {
    std::vector<GarbageOutcome> removals;  // those that were begun
    std::optional<Bytes> freed;            // what the filesystems have more; none: it could not be measured
    bool interrupted = false;              // the others were not begun
};

struct GcReport {
    std::string runtime;  // "containerd 1.6.20"
    std::string endpoint;
    bool dry_run = false;
    std::vector<std::string> pods;      // who said which pods are there
    std::vector<std::string> troubles;  // what could not be asked, each in one line
    std::optional<Bytes> missing;       // until every disk threshold is clear; none: not known
    std::vector<Garbage> goes;          // in this order
    std::vector<Garbage> stays;
    std::optional<GcDone> done;  // none: nothing was removed yet

    // Nothing went wrong: what is in use again, or gone already, is as it should be.
    [[nodiscard]] bool fine() const;
};

// Who was asked, what goes and why, what stays and why.
[[nodiscard]] std::string gc_plan_text(const GcReport& report, const TextStyle& style);
// What came of it.
[[nodiscard]] std::string gc_summary_text(const GcReport& report, const TextStyle& style);
// "removed image docker.io/library/nginx:1.27, 68Mi": a line for each where there is no terminal.
[[nodiscard]] std::string gc_step_text(const Garbage& one, const GarbageOutcome& outcome);
// One line of a terminal, without its newline: how much of `total` is done, and what was the last.
[[nodiscard]] std::string gc_progress_text(std::size_t done, std::size_t total, const Garbage& last,
                                           const TextStyle& style);

// {"v":1,"runtime":"...","endpoint":"...","dry_run":true,"pods":["..."],"troubles":[],"missing_bytes":0,
// "goes":[{"kind","id","name","pod","size_bytes","why"}],"goes_bytes":0,"stays":[...],
// "done":{"removals":[{"kind","id","name","status","error"}],"freed_bytes":0,"interrupted":false}}; what is not known
// is left out.
[[nodiscard]] std::string gc_json(const GcReport& report);

}  // namespace evictd::codec

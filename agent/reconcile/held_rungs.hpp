// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What rungs of the ladder have to be put back, the file that remembers it, and how it is put back: by the agent
// itself, by the next one, by the guard of one that was killed, and by `evictd undo`.
#pragma once

#include <string>
#include <vector>

#include "evictd/model/ladder.hpp"
#include "evictd/model/result.hpp"
#include "evictd/port/pod_controls.hpp"
#include "reconcile/put_back.hpp"

namespace evictd::reconcile {

// A limit that was set, or a pod that was frozen.
struct HeldRung {
    RungKind kind = RungKind::squeeze;
    port::CgroupPlace place;
    Bytes ours;    // squeeze: what was set
    Bytes before;  // squeeze: what was there
    friend bool operator==(const HeldRung&, const HeldRung&) = default;
};

// A line for each; of the running boot only, as cgroup ids begin anew with the next.
[[nodiscard]] std::string held_text(const std::vector<HeldRung>& held, const std::string& boot);
struct HeldLedger {
    std::vector<HeldRung> held;
    std::string fault;  // what of it cannot be understood: the first such line; empty: nothing
    bool is_of_another_boot = false;
};
[[nodiscard]] HeldLedger held_from(const std::string& text, const std::string& boot);

// As write_ledger().
Status remember_held(const std::string& path, const std::vector<HeldRung>& held);
// As read_ledger(); no file: nothing is held.
[[nodiscard]] Result<HeldLedger> remembered_held(const std::string& path);

// Where the reaper remembers the victim that it has frozen for a moment, beside the file of the ladder's rungs: each
// file has one writer.
[[nodiscard]] std::string victims_path(const std::string& rungs_path);

// Puts it back where it is still ours. The text: the value that another program has set meanwhile, which is kept;
// empty: it was put back, or the pod is gone, which undoes everything.
[[nodiscard]] Result<std::string> put_back(const port::PodControls& controls, const HeldRung& held);

// All that the file at `path` remembers. What could not be put back stays in the file; with nothing left it is removed.
// A file with lines that cannot be understood is set aside.
[[nodiscard]] PutBack put_back_all(const port::PodControls& controls, const std::string& path);
// That of the rungs and that of the victim.
[[nodiscard]] PutBack put_back_with_victims(const port::PodControls& controls, const std::string& rungs_path);

}  // namespace evictd::reconcile

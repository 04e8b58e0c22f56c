// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Where intents are kept until the eviction is over: in memory that outlives the agent (intent_file), and from
// there in the state directory, which outlives a reboot. Not for several threads at once
// (intent_writer); the kill path notes in the file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reconcile/intent_file.hpp"
#include "reconcile/ledger_file.hpp"
#include "reconcile/put_back.hpp"

namespace evictd::reconcile {

// What changed since it was last asked.
struct IntentChange {
    std::vector<Intent> unfinished;  // all of them
    // Over, withdrawn or gone: up to this attempt.
    std::map<PodUid, std::int32_t> settled;
};

class IntentStore {
public:
    // `file`, which outlives it: null, there is none. `ledger_path` empty: nothing is kept on disk.
    IntentStore(IntentFile* file, std::string ledger_path) : file_(file), path_(std::move(ledger_path)) {}

    // What an agent left that ended before the evictions were over: from both, the newest of each pod. What cannot be
    // understood is set aside and logged.
    [[nodiscard]] std::vector<Intent> recover();
    // What is not over goes to disk; then its slot in memory is free for others. A disk that fails is logged once,
    // and it stays in memory. What is settled is forgotten after that, so that none is lost wherever this is cut off.
    void apply(const IntentChange& change);

private:
    void keep(const std::vector<Intent>& unfinished);
    void forget_answered(const std::vector<Intent>& unfinished);
    void forget(const PodUid& pod, std::int32_t attempt);

    IntentFile* file_;
    std::string path_;
    std::string boot_ = boot_id();
    std::string written_;             // the ledger's text
    bool failed_ = false;             // the last time it was written
    bool is_another_agents_ = false;  // what is in it
};

// For `evictd undo`: what a killed agent has left, as text. Nothing is changed: the next agent delivers it.
[[nodiscard]] PutBack list_intents(const std::string& file_path, const std::string& ledger_path);

}  // namespace evictd::reconcile

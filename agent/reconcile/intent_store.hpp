// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Where intents are kept until the API server has answered: in memory that outlives the agent (intent_file), and from
// there in the state directory, which outlives a reboot. For the lane of pod statuses; the kill path notes in the file.
#pragma once

#include <string>
#include <vector>

#include "reconcile/intent_file.hpp"
#include "reconcile/put_back.hpp"

namespace evictd::reconcile {

class IntentStore {
public:
    // `file`, which outlives it: null, there is none. `ledger_path` empty: nothing is kept on disk.
    IntentStore(IntentFile* file, std::string ledger_path) : file_(file), path_(std::move(ledger_path)) {}

    // What an agent that was killed, or the API server that did not answer, has left: from both, the newest of each
    // pod. What cannot be understood is set aside and logged.
    [[nodiscard]] std::vector<Intent> recover();
    // These are not answered yet: on disk; then their slots in memory are free for others. A disk that fails is logged
    // once, and they stay in memory.
    void keep(const std::vector<Intent>& unanswered);
    // The API server has answered, or the pod is gone. After keep() without it.
    void forget(const PodUid& pod, std::int32_t attempt);

private:
    IntentFile* file_;
    std::string path_;
    std::string written_;  // the ledger's text
    bool failed_ = false;  // the last time it was written
};

// For `evictd undo`: what a killed agent has left, as text. Nothing is changed: the next agent delivers it.
[[nodiscard]] PutBack list_intents(const std::string& file_path, const std::string& ledger_path);

}  // namespace evictd::reconcile

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What `evictd explain` says of one eviction or OOM kill, from its events: who, when, why, how fast, who would have
// been next, and what memory looked like. Reads events, decides nothing.
#pragma once

#include <string>
#include <vector>

#include "event.hpp"
#include "text_style.hpp"

namespace evictd::codec {

// `events`: all that have the id, oldest first, at least one. `history`: null where none was kept. `delays`:
// EvictionDelayed shortly before them.
[[nodiscard]] std::string explain_text(const std::vector<Event>& events, const HistoryPtr& history,
                                       const TextStyle& style, const std::vector<Event>& delays = {});
// {"v":1,"id":"...","delays":[...],"events":[...],"history":{...}} on one line, without what there is none of; the
// events are those of the stream without history.
[[nodiscard]] std::string explain_json(const std::vector<Event>& events, const HistoryPtr& history,
                                       const std::vector<Event>& delays = {});

// Whether the eviction that `first` is of may have waited as `delay`, an EvictionDelayed, says: for a threshold of the
// same kind. Waits for pods of unknown manifests name no signal, and are evictions' for memory.
[[nodiscard]] bool may_have_delayed(const Event& delay, const Event& first);

// The history of the last of them that has one.
[[nodiscard]] HistoryPtr history_of(const std::vector<Event>& events);

}  // namespace evictd::codec

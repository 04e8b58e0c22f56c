// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "event_rung.hpp"

#include <chrono>

#include "evictd/model/text.hpp"

namespace evictd::codec {
namespace {

// What was asked back, or what was needed of it.
bool is_enough(const RungOutcome& outcome, bool relieved) {
    return outcome.status == RungStatus::ended &&
           (outcome.bytes >= outcome.rung.bytes || (relieved && outcome.cut_short && outcome.bytes > Bytes{0}));
}

std::string begun_sentence(const Rung& rung, bool dry_run) {
    const std::string pod = "Pod " + rung.pod_name;
    const std::string bytes = bytes_text(rung.bytes.value);
    switch (rung.kind) {
        case RungKind::reclaim:
            return pod + (dry_run ? " would be" : " is") + " asked for " + bytes + " of page cache: memory is short";
        case RungKind::squeeze:
            return pod + (dry_run ? " would" : " may") + " not grow beyond " + bytes + " while memory is short";
        case RungKind::freeze:
            break;
    }
    return pod + (dry_run ? " would be" : " is") + " briefly frozen: it takes memory the fastest";
}

std::string ended_sentence(const RungOutcome& outcome) {
    const std::string pod = "Pod " + outcome.rung.pod_name;
    if (outcome.rung.kind == RungKind::reclaim) {
        return pod + " gave back " + bytes_text(outcome.bytes.value) + " of the " +
               bytes_text(outcome.rung.bytes.value) + " asked for, within " + latency_text(outcome.took);
    }
    const char* what = outcome.rung.kind == RungKind::squeeze ? " may grow again" : " resumed";
    return pod + what + " after " + latency_text(outcome.took);
}

std::string failed_sentence_of(const Rung& rung) {
    const char* what = rung.kind == RungKind::reclaim   ? "reclaim page cache from"
                       : rung.kind == RungKind::squeeze ? "limit the growth of"
                                                        : "freeze";
    return std::string("Could not ") + what + " pod " + rung.pod_name;
}

}  // namespace

bool is_told(const RungOutcome& outcome) {
    return !(outcome.dry_run && outcome.rung.kind == RungKind::reclaim && outcome.status == RungStatus::ended);
}

Reason rung_reason(const RungOutcome& outcome, bool relieved) {
    const bool begins = outcome.status == RungStatus::begun;
    if (outcome.rung.kind == RungKind::reclaim) {
        return begins                         ? Reason::reclaim_started
               : is_enough(outcome, relieved) ? Reason::reclaim_succeeded
                                              : Reason::reclaim_insufficient;
    }
    if (outcome.status == RungStatus::ended) return Reason::pod_released;
    return outcome.rung.kind == RungKind::squeeze ? Reason::pod_squeezed : Reason::pod_frozen;
}

void tell_rung(const RungOutcome& outcome, bool relieved, Event& event) {
    const bool enough = is_enough(outcome, relieved);
    const bool reclaim = outcome.rung.kind == RungKind::reclaim;
    const bool calm = outcome.status == RungStatus::ended ? !reclaim || enough : reclaim;
    event.severity = calm && outcome.error.empty() ? Severity::normal : Severity::warning;
    event.error = outcome.error;
    switch (outcome.status) {
        case RungStatus::begun:
            event.message = (outcome.dry_run ? "Dry run: " : "") + begun_sentence(outcome.rung, outcome.dry_run);
            break;
        case RungStatus::ended:
            event.message = (outcome.dry_run ? "Dry run: " : "") + ended_sentence(outcome);
            event.duration = outcome.took;
            break;
        case RungStatus::failed:
            event.message = failed_sentence_of(outcome.rung);
            break;
    }
    if (reclaim && outcome.status != RungStatus::begun) event.reclaimed = outcome.bytes;
    if (outcome.rung.kind == RungKind::squeeze) event.limit = outcome.rung.bytes;
}

}  // namespace evictd::codec

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "event_notice.hpp"

#include <array>

namespace evictd::codec {

Event notice_event(const AgentNotice& notice) {
    struct Row {
        Notice notice;
        const char* reason;
        Severity severity;
    };
    constexpr std::array<Row, 9> rows{{
        {Notice::agent_started, "AgentStarted", Severity::normal},
        {Notice::agent_stopped, "AgentStopped", Severity::normal},
        {Notice::signal_source_changed, "SignalSourceChanged", Severity::normal},
        {Notice::kernel_events_lost, "KernelEventsLost", Severity::warning},
        {Notice::config_reloaded, "ConfigReloaded", Severity::normal},
        {Notice::config_rejected, "ConfigRejected", Severity::warning},
        {Notice::pod_rejected, "PodRejected", Severity::warning},
        {Notice::look_incomplete, "LookIncomplete", Severity::warning},
        {Notice::oom_score_adjusted, "OOMScoreAdjusted", Severity::normal},
    }};
    const Row& row = rows.at(static_cast<std::size_t>(notice.notice));
    Event event;
    event.time = notice.wall;
    event.reason = row.reason;
    event.severity = notice.error.empty() ? row.severity : Severity::warning;
    event.message = notice.message;
    event.error = notice.error;
    event.dry_run = notice.dry_run;
    if (notice.pod) event.pod = event_pod(*notice.pod);
    return event;
}

}  // namespace evictd::codec

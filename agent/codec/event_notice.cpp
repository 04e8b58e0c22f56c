// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "event_notice.hpp"

#include <array>

namespace evictd::codec {

Event notice_event(const AgentNotice& notice) {
    struct Row {
        Notice notice;
        Reason reason;
        Severity severity;
    };
    constexpr std::array<Row, 9> rows{{
        {Notice::agent_started, Reason::agent_started, Severity::normal},
        {Notice::agent_stopped, Reason::agent_stopped, Severity::normal},
        {Notice::signal_source_changed, Reason::signal_source_changed, Severity::normal},
        {Notice::kernel_events_lost, Reason::kernel_events_lost, Severity::warning},
        {Notice::config_reloaded, Reason::config_reloaded, Severity::normal},
        {Notice::config_rejected, Reason::config_rejected, Severity::warning},
        {Notice::pod_rejected, Reason::pod_rejected, Severity::warning},
        {Notice::look_incomplete, Reason::look_incomplete, Severity::warning},
        {Notice::oom_score_adjusted, Reason::oom_score_adjusted, Severity::normal},
    }};
    static_assert(has_enumerators<Notice, rows.size()>(), "a notice has no row");
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

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/story.hpp"

#include "evictd/model/text.hpp"

namespace evictd::demo {
namespace {

using codec::Tone;

// The part of the message that is about the pod: "Container app was using ..., request is ..." in the kubelet's, that
// tasks stalled in ours.
std::string reason_in(const std::string& message) {
    if (const auto stall = message.find("Tasks stalled on"); stall != std::string::npos) {
        const auto end = message.find(". Sent", stall);
        return message.substr(stall, end == std::string::npos ? end : end - stall);
    }
    const auto from = message.find("Container ");
    const auto to = message.find(", has larger", from == std::string::npos ? 0 : from);
    return from == std::string::npos ? message : message.substr(from, to == std::string::npos ? to : to - from);
}

// What came of it: "Sent SIGKILL to ...".
std::string signal_in(const std::string& message) {
    const auto from = message.find("Sent ");
    return from == std::string::npos ? message : message.substr(from);
}

// Without BPF nobody knows when the kernel crossed the line: the agent notices it, and that takes no time.
std::optional<Duration> known(std::optional<Duration> span) { return span && span->count() > 0 ? span : std::nullopt; }

bool is_raising(const codec::Event& event) {
    return event.reason == codec::Reason::oom_score_adjusted && event.pod && event.message.starts_with("Raised ");
}

std::string after_prefix(const std::string& message, std::string_view prefix) {
    return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

}  // namespace

std::string pod_name(const codec::Event& event) {
    return event.pod ? event.pod->name_space + "/" + event.pod->name : "a pod";
}

void Story::begin(WallTime at, const std::string& text) {
    began_ = at;
    note(at, Tone::bold, text);
}

void Story::note(WallTime at, Tone tone, const std::string& text) {
    lines_.push_back({began_ ? std::optional(at - *began_) : std::nullopt, tone, text});
}

void Story::hear(const codec::Event& event) {
    if ((event.reason == codec::Reason::eviction_threshold_met || event.reason == codec::Reason::memory_stall) &&
        !met_) {
        met_ = event;
    } else if (event.reason == codec::Reason::evicting) {
        evicting_ = event;
    } else if (event.reason == codec::Reason::evicted) {
        evicted_.push_back(event);
    } else if (event.reason == codec::Reason::eviction_failed) {
        failed_.push_back(event);
    } else if (event.reason == codec::Reason::sockets_shed && !shed_) {
        shed_ = event;
    } else if (event.reason == codec::Reason::sockets_restored && !restored_) {
        restored_ = event;
    } else if (event.reason == codec::Reason::oom_killing &&
               event.pod) {  // elsewhere on this machine it is none of our business
        oom_killed_.push_back(event);
    } else if (is_raising(event) && oom_killed_.empty()) {
        raised_.push_back(event.pod->uid);
    }
    tell(event);
}

// The agent's comings and goings are not the story.
void Story::tell(const codec::Event& event) {
    const std::string message = printable(event.message);
    if (event.reason == codec::Reason::eviction_threshold_met) {
        note(event.time, Tone::yellow, "threshold  " + after_prefix(message, "Attempting to reclaim memory: "));
    } else if (event.reason == codec::Reason::memory_stall) {
        note(event.time, event.severity == codec::Severity::warning ? Tone::yellow : Tone::plain,
             "stall      " + message);
    } else if (event.reason == codec::Reason::eviction_threshold_cleared) {
        note(event.time, Tone::plain, "cleared    " + message);
    } else if (event.reason == codec::Reason::evicting) {
        note(event.time, Tone::red, "decision   " + pod_name(event) + " is evicted: " + reason_in(message));
        note(event.time, Tone::red, "signal     " + signal_in(message));
    } else if (event.reason == codec::Reason::sockets_shed) {
        note(event.time, Tone::yellow, "shed       " + message);
    } else if (event.reason == codec::Reason::sockets_restored) {
        note(event.time, Tone::green, "restored   " + message);
    } else if (event.reason == codec::Reason::evicted) {
        note(event.time, Tone::green, "gone       " + message);
    } else if (event.reason == codec::Reason::eviction_failed) {
        note(event.time, Tone::red, "failed     " + message);
    } else if (event.reason == codec::Reason::oom_killing && event.pod) {
        note(event.time, Tone::red, "OOM kill   " + message);
    } else if (is_raising(event)) {
        note(event.time, Tone::yellow, "steering   " + message);
    }
}

std::optional<Duration> Story::crossed_after() const {
    return met_ && began_ ? std::optional(met_->time - *began_) : std::nullopt;
}

std::optional<Amount> Story::least_available() const {
    std::optional<Amount> least;
    for (const auto* event : {&met_, &evicting_}) {
        if (*event && (*event)->threshold && (!least || (*event)->threshold->available < *least)) {
            least = (*event)->threshold->available;
        }
    }
    return least;
}

std::vector<Stretch> Story::stretches() const {
    std::vector<Stretch> result;
    if (!evicting_) {
        return result;
    }
    Duration at{0};
    const auto add = [&](const char* name, std::optional<Duration> length, const char* what) {
        if (length) {
            result.push_back({name, at, *length, what});
            at += *length;
        }
    };
    if (evicting_->threshold && !evicting_->threshold->hard) {
        add("grace", met_ ? std::optional(evicting_->time - met_->time) : std::nullopt,
            "of the threshold: was it only a peak?");
        add("shutdown", evicted_.empty() ? std::nullopt : std::optional(evicted_.front().time - evicting_->time),
            "of the pod, from SIGTERM to its last process");
        return result;
    }
    const auto& latency = evicted_.empty() ? evicting_->latency : evicted_.front().latency;
    add("detect", known(latency.detect), "the kernel's crossing to the agent awake");
    add("decide", latency.decide, "look at every pod, rank, choose one");
    add("act", latency.act, "SIGKILL to every process of the pod");
    return result;
}

}  // namespace evictd::demo

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What happened, from the agent's own events: lines for people, and the facts the verdict is spoken over. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codec/event.hpp"
#include "codec/text_style.hpp"

namespace evictd::demo {

struct StoryLine {
    std::optional<Duration> after;  // since the pod began; before that there is no time to tell
    codec::Tone tone = codec::Tone::plain;
    std::string text;
};

// "namespace/name" of the event's pod.
[[nodiscard]] std::string pod_name(const codec::Event& event);

// A stretch of an eviction's way, for the picture of its latency.
struct Stretch {
    std::string name;
    Duration start{0};  // from the first stretch's beginning
    Duration length{0};
    std::string what;
};

class Story {
public:
    // The pod begins to do what it is there for.
    void begin(WallTime at, const std::string& text);
    void hear(const codec::Event& event);
    void note(WallTime at, codec::Tone tone, const std::string& text);

    [[nodiscard]] const std::vector<StoryLine>& lines() const { return lines_; }
    [[nodiscard]] const std::vector<codec::Event>& evicted() const { return evicted_; }
    [[nodiscard]] const std::vector<codec::Event>& failed() const { return failed_; }
    [[nodiscard]] const std::optional<codec::Event>& shed() const { return shed_; }          // the first
    [[nodiscard]] const std::optional<codec::Event>& restored() const { return restored_; }  // likewise
    [[nodiscard]] std::size_t oom_kills() const { return oom_killed_.size(); }
    [[nodiscard]] const std::vector<codec::Event>& oom_killed() const { return oom_killed_; }
    // Uids of pods that were raised for the kernel's OOM killer before it came.
    [[nodiscard]] const std::vector<std::string>& raised() const { return raised_; }
    [[nodiscard]] bool over() const { return !evicted_.empty() || !failed_.empty(); }
    [[nodiscard]] std::optional<Duration> crossed_after() const;  // from the beginning to the first threshold met

    [[nodiscard]] std::optional<Amount> least_available() const;  // at a look that met a threshold or evicted

    // Detect, decide, act of an immediate eviction; threshold's grace, pod's grace of a soft one. Empty until there is
    // an eviction.
    [[nodiscard]] std::vector<Stretch> stretches() const;

private:
    void tell(const codec::Event& event);

    std::optional<WallTime> began_;
    std::optional<codec::Event> met_;
    std::optional<codec::Event> evicting_;
    std::vector<codec::Event> evicted_;
    std::vector<codec::Event> failed_;
    std::optional<codec::Event> shed_;
    std::optional<codec::Event> restored_;
    std::vector<codec::Event> oom_killed_;
    std::vector<std::string> raised_;
    std::vector<StoryLine> lines_;
};

}  // namespace evictd::demo

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The live picture as lines of text: what goes on, how much is left, who would go first, what happened and how long it
// took. Pure; screen puts it on the terminal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codec/status_parts.hpp"
#include "codec/text_style.hpp"
#include "demo/scenario.hpp"
#include "demo/story.hpp"
#include "demo/verdict.hpp"

namespace evictd::demo {

struct Scene {
    const Plan& plan;
    const Story& story;
    std::string now;                           // what goes on, in one line
    std::string hint;                          // what else one can do meanwhile; may be empty
    Bytes charged;                             // all that the kernel counts for the pods, page cache included
    std::optional<codec::StatusParts> status;  // the agent's last answer
};

// At most `rows` lines (0: as many as it takes): the hint, blank lines and the oldest of the story give way.
[[nodiscard]] std::vector<std::string> picture(const Scene& scene, const codec::TextStyle& style, int rows);

// "1Gi for all pods; evicted is below 192Mi": the plan in a line or two, for a pipe.
[[nodiscard]] std::vector<std::string> opening(const Plan& plan);
[[nodiscard]] std::string story_line(const StoryLine& line, const codec::TextStyle& style);
// A row a stretch, each where it lies in time; and when the last process was gone.
[[nodiscard]] std::vector<std::string> timeline(const Story& story, const codec::TextStyle& style);
[[nodiscard]] std::vector<std::string> verdict_lines(const Verdict& verdict, const codec::TextStyle& style);

}  // namespace evictd::demo

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/tape_player.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "codec/decision_json.hpp"
#include "policy/decide.hpp"

namespace evictd::replay {
namespace {

// Both from a little before they part: a decision over a thousand pods is long.
std::string difference(std::string_view now, std::string_view recorded) {
    constexpr std::size_t before = 40;
    constexpr std::size_t shown = 160;
    const auto parted = std::mismatch(now.begin(), now.end(), recorded.begin(), recorded.end()).first - now.begin();
    const auto begin = static_cast<std::size_t>(parted) > before ? static_cast<std::size_t>(parted) - before : 0;
    const auto part = [&](std::string_view text) {
        const auto cut = begin < text.size() ? text.substr(begin, shown) : std::string_view{};
        return (begin > 0 ? "..." : "") + std::string(cut) + (begin + shown < text.size() ? "..." : "");
    };
    return part(now) + ", recorded " + part(recorded);
}

// Without its last key, the sentence for people, whose wording is each version's own.
std::string_view without_why(std::string_view line) { return line.substr(0, line.rfind(R"(,"why":)")); }

}  // namespace

PlayedLook TapePlayer::play(const codec::TapeLook& look, bool follows) {
    PlayedLook played;
    if (look.config) config_ = *look.config;
    if (look.before) {
        if (follows && codec::state_line(state_) != codec::state_line(*look.before)) {
            played.mismatch = "what was remembered before this look is not what was recorded: " +
                              difference(codec::state_line(state_), codec::state_line(*look.before));
        }
        state_ = *look.before;
    }
    auto verdict = policy::decide(config_, look.observation, state_);
    state_ = std::move(verdict.state);
    played.decision = std::move(verdict.decision);
    played.line = codec::decision_line(played.decision, look.observation);
    const bool older = look.desired.empty();
    const bool same = older ? without_why(played.line) == without_why(look.decision) : played.line == look.decision;
    if (played.mismatch.empty() && !same) {
        played.mismatch = "the decision is not the recorded one: " + difference(played.line, look.decision);
    }
    const auto desired = codec::desired_line(played.decision, look.observation);
    if (played.mismatch.empty() && !older && desired != look.desired) {
        played.mismatch = "the desired state is not the recorded one: " + difference(desired, look.desired);
    }
    const auto next = codec::next_look_line(played.decision, look.observation);
    if (played.mismatch.empty() && !look.next_look.empty() && next != look.next_look) {
        played.mismatch = "the next look is not the recorded one: " + difference(next, look.next_look);
    }
    return played;
}

}  // namespace evictd::replay

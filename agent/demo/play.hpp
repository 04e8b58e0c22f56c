// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The course of a demo, from the empty stage to the verdict: what is waited for and what is shown meanwhile. What
// stands on the stage is stage's, what it looks like is view's.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "demo/agent_link.hpp"
#include "demo/demo.hpp"
#include "demo/report.hpp"
#include "demo/stage.hpp"
#include "demo/story.hpp"
#include "demo/verdict.hpp"
#include "demo/view.hpp"
#include "sys/clock.hpp"
#include "sys/loop.hpp"

namespace evictd::demo {

class Play {
public:
    // From here on SIGINT and SIGTERM interrupt run(), they do not end the process.
    static Result<std::unique_ptr<Play>> make(const DemoOptions& options);
    Play(const Play&) = delete;
    Play& operator=(const Play&) = delete;
    ~Play() = default;

    Result<std::vector<std::string>> run(const Plan& plan);

private:
    Play(const DemoOptions& options, sys::Loop loop);
    Status set_up(const Plan& plan);
    Status start_pods();
    Status start_agent();
    Status go_through();
    bool is_over();  // what the play is about has happened
    void note_full_cache();
    Result<std::vector<std::string>> judge_and_clear();

    // Turns the loop until `done`; fails with what went wrong meanwhile, or when it takes too long.
    Status wait_for(const std::string& what, const std::function<bool()>& done);
    Status pass(const std::string& what, Duration time);
    Status listen(int fd, sys::Loop::Callback callback);
    void hear_pod(Actor& actor, sys::Source& source);
    void hear_agent();
    void agent_ended();
    [[nodiscard]] bool agent_sees_everybody();
    void ask_agent();
    void refresh();
    [[nodiscard]] Scene scene() const;
    void trouble(Error error);

    DemoOptions options_;
    sys::SystemClock clock_;
    Report report_;
    Story story_;
    sys::Loop loop_;
    std::unique_ptr<Stage> stage_;
    std::vector<std::unique_ptr<sys::Source>> sources_;  // after the stage: they watch its descriptors
    std::optional<AgentLink> link_;
    std::optional<codec::StatusParts> status_;
    std::optional<Error> trouble_;
    std::string now_;
    MonotonicTime drawn_at_;
    MonotonicTime acted_at_;
    Bytes charged_;
    Bytes most_used_;
    bool leaving_ = false;  // the agent is being ended: that it ends is no trouble
};

}  // namespace evictd::demo

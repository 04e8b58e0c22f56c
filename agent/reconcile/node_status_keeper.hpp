// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Keeps evictd's conditions and taints of this node in the API server: reads the node, compares, patches what differs.
// Never waits for the server but in release(), and never touches the conditions and taints of others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codec/node_object.hpp"
#include "evictd/model/back_off.hpp"
#include "evictd/model/node_status.hpp"
#include "evictd/port/api_server.hpp"
#include "sys/arrivals.hpp"
#include "sys/clock.hpp"

namespace evictd::reconcile {

struct ApiAnswer {
    std::uint64_t request = 0;
    Result<port::ApiReply> reply;
};
using ApiAnswers = sys::Arrivals<ApiAnswer>;

struct NodeStatusOptions {
    std::string node;
    bool dry_run = false;
    bool once = false;  // until the server has once had what is desired, to remove what an agent before has left
    // What an agent that was killed left, and what is not desired, stays for so long after the start.
    Duration transition_period{0};
    Duration time_to_release = std::chrono::seconds(3);
    std::function<double()> random{};                // from 0 to 1; none: 0.5
    std::function<void(const std::string&)> note{};  // of a refusal, once; a sentence for people
};

// For status.
struct NodeStatusFigures {
    std::string shown;                       // "conditions, taints"; empty: nothing yet
    std::string problem;                     // why it is less than is desired; empty: nothing is wrong
    std::optional<WallTime> confirmed_at{};  // the server last had what is desired
    friend bool operator==(const NodeStatusFigures&, const NodeStatusFigures&) = default;
};

class NodeStatusKeeper {
public:
    using Desired = DesiredNodeStatus;

    // `api` and `clock` outlive it. `answers` is its own; whoever holds it wakes it by calling take_answers().
    NodeStatusKeeper(port::ApiServer& api, const sys::Clock& clock, NodeStatusOptions options,
                     std::shared_ptr<ApiAnswers> answers);

    // As a Reconciler (control_loop.hpp). One request is under way at a time; the newest desired state counts.
    void reconcile(const DesiredNodeStatus& desired);
    [[nodiscard]] std::optional<MonotonicTime> due() const;
    void act_on_time();
    // Removes the taints and sets the conditions to False, for as long as options.time_to_release; logs what is left.
    void release();

    void take_answers();
    [[nodiscard]] NodeStatusFigures figures() const;
    [[nodiscard]] bool is_once() const { return options_.once; }

private:
    enum class Step : std::uint8_t { read, taints, conditions };
    struct Call {
        Step step = Step::read;
        std::uint64_t request = 0;
        MonotonicTime deadline;
    };
    using TaintId = std::pair<std::string, std::string>;  // key, effect: what makes two taints the same

    void begin_round();
    void send(Step step, port::ApiRequest request);
    void on_answer(const ApiAnswer& answer);
    void on_accepted(Step step, const port::ApiReply& reply);
    void on_refused(Step step, const port::ApiReply& reply);
    void patch_taints();
    void patch_conditions();
    void finish_round();
    void make_rounds_until(MonotonicTime deadline);
    void retry(const std::string& problem, Duration at_least);
    void leave_until(MonotonicTime& refused_until, const std::string& what, const std::string& why);
    [[nodiscard]] Duration next_refused_pause();
    void say(const std::string& problem);
    void pretend(const DesiredNodeStatus& desired) const;
    [[nodiscard]] std::vector<Taint> wanted_taints(MonotonicTime now);
    [[nodiscard]] codec::ConditionsChange wanted_conditions(MonotonicTime now);
    [[nodiscard]] bool is_left_by_another(const Taint& taint) const;
    [[nodiscard]] Duration spread(Duration period) const;
    void look_again_by(MonotonicTime time);

    port::ApiServer& api_;
    const sys::Clock& clock_;
    NodeStatusOptions options_;
    std::shared_ptr<ApiAnswers> answers_;
    MonotonicTime started_;
    bool is_ending_ = false;
    std::optional<DesiredNodeStatus> desired_;
    bool is_new_ = false;  // it has changed since the round began
    std::set<TaintId> wanted_once_;
    std::set<std::string> true_once_;                      // conditions
    std::map<std::string, MonotonicTime> unlisted_since_;  // conditions that were desired, and are no more
    std::optional<Call> call_;
    std::uint64_t requests_ = 0;
    std::optional<codec::NodeObject> node_;  // as it was read in this round
    std::optional<MonotonicTime> next_;      // when the next round begins
    std::optional<MonotonicTime> expires_;   // when something that is left as it is has to go
    bool was_heard_ = false;                 // the server, since the last request
    ServerFailures failures_;
    Duration refused_pause_{0};    // after the last refusal; 0: none since the server had what is desired
    MonotonicTime refused_since_;  // where refused_pause_ is not 0
    int conflicts_ = 0;
    MonotonicTime taints_refused_until_;
    MonotonicTime conditions_refused_until_;
    bool has_failed_ = false;  // this round
    std::string problem_;
    std::optional<WallTime> confirmed_at_;
};

}  // namespace evictd::reconcile

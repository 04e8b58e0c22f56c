// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/agent.hpp"

#include <algorithm>
#include <utility>

#include "policy/decide.hpp"
#include "policy/memory_available.hpp"
#include "sys/log.hpp"

namespace evictd::app {
namespace {

// In a dry run an orphan that is not removed is there each time: it is said once. Without disks nothing is looked at
// for a threshold on them.
AgentOptions as_it_can_act(AgentOptions options, bool has_disks) {
    auto& orphans = options.eviction.garbage.orphans;
    if (options.dry_run && orphans == Orphans::remove) {
        orphans = Orphans::report;
    }
    if (!has_disks) {
        options.eviction.disk_time_to_exhaustion = Duration{};
    }
    return options;
}

}  // namespace

Agent::Agent(AgentParts parts, AgentOptions options)
    : parts_(std::move(parts)),
      options_(as_it_can_act(std::move(options), static_cast<bool>(parts_.disks))),
      watcher_(parts_.events),
      pace_(parts_.clock) {
    if (options_.record) {
        recorded_config_ = std::make_shared<const EvictionConfig>(options_.eviction);
    }
    rank_by_processes();
}

Status Agent::start() {
    auto timer = parts_.loop.add_timer([this] { on_timer(); });
    if (!timer) {
        return tl::unexpected(timer.error());
    }
    timer_ = std::move(*timer);
    if (auto claimed = follow_pods_root(); !claimed) {
        return claimed;
    }
    tick(Cause{.kind = CauseKind::started, .event = {}, .detected_at = parts_.clock.monotonic()});
    auto ready = parts_.loop.add_fd(
        parts_.events.fd(), [this] { on_kernel_events(); }, sys::Priority::urgent);
    if (!ready) {
        return tl::unexpected(ready.error());
    }
    events_ready_ = std::move(*ready);
    return {};
}

// With memory counted as the configuration says, for whoever reads it.
Observation Agent::look(Cause cause, std::vector<Outcome> outcomes, const observe::NodeNeed& node,
                        observe::LookFor purpose) {
    auto observation = parts_.observer.look(std::move(cause), table_, std::move(outcomes), node, purpose);
    policy::compare_with(options_.eviction.memory_available, observation.readings);
    observation.pods_unlisted = root_ && !all_listed_;
    observation.watching = watching();
    add_disks(observation, purpose);
    return observation;
}

// The whole program: observe, decide, kill, make the rest of what is desired true, publish.
void Agent::tick(Cause cause) {
    const auto cpu = parts_.clock.thread_cpu();
    Tick tick = observe(std::move(cause));
    put_off_.reset();
    auto verdict = policy::decide(options_.eviction, tick.observation, state_);
    kill(tick, std::move(verdict.decision));
    reconcile(tick);
    remember(tick, std::move(verdict.state));
    pace_.note_cost(parts_.clock.thread_cpu() - cpu);
    schedule(tick);
    watch_pids(tick);
    publish(std::move(tick));
}

Tick Agent::observe(Cause cause) {
    list_again();
    Tick tick{.dry_run = options_.dry_run};
    if (!followed_.empty()) {
        parts_.observer.forget_rehearsal();
    }
    tick.observation = look(std::move(cause), std::exchange(outcomes_, {}), node_need());
    tick.observation.victims = parts_.observer.victims(followed_);
    add_victim_disks(tick.observation.victims);
    add_tasks(tick.observation.victims);
    add_pids(tick.observation);  // after the victims' tasks: one that is reaped in between is in that count
    tick.observation.reclaimed = std::exchange(reclaimed_, {});
    tick.observation.rungs = std::exchange(rung_outcomes_, {});
    tick.observation.pod_statuses = std::exchange(pod_status_outcomes_, {});
    tick.observation.recalled = std::exchange(recalled_, {});
    tick.observation.pods_current = pods_current_;
    tick.observation.pods_complete = are_pods_complete();
    tick.observation.node = node_;
    tick.observation.logind = logind_;
    last_look_ = tick.observation.at;
    if (std::exchange(reader_waits_, false)) {
        last_read_ = last_look_;
    }
    return tick;
}

// Inline, and before all else that follows from the decision.
void Agent::kill(Tick& tick, Decision decision) {
    tick.decided_at = parts_.clock.monotonic();
    note_intents(tick, decision);
    tick.outcomes = parts_.executor.carry_out(decision.actions, tick.decided_at,
                                              [this](const Action& action) { return cgroup_for(action); });
    tick.decision = std::move(decision);
    const auto killed = [](const Outcome& outcome) {
        return outcome.action.kind == ActionKind::kill && outcome.status == OutcomeStatus::delivered;
    };
    if (std::any_of(tick.outcomes.begin(), tick.outcomes.end(), killed)) {
        pace_.note_kill();
    }
}

// What the next look and the tape need of this one. Some of it is slow, and no kill waits for it.
void Agent::remember(Tick& tick, State state) {
    tick.kernel_events = std::exchange(kernel_events_, {});
    tick.runtime_names = parts_.disks.names ? parts_.disks.names() : nullptr;
    note_place(tick);
    for (auto& event : tick.kernel_events) {
        name_owner(event, Search::all_cgroups);
    }
    note_for_tape(tick);
    state_ = std::move(state);
    after_victims(tick);
    follow_victims();
    weigh_owed(tick);
    outcomes_ = tick.outcomes;
    for (std::size_t i = 0; i < signal_count; i++) {
        if (const auto& reading = tick.observation.readings.at(i)) {
            capacities_.at(i) = reading->capacity;
        }
    }
}

void Agent::publish(Tick tick) {
    if (!rehearsed_ && !pressure_) {
        (void)rehearse_over(tick.observation);
    }
    tell_root();
    parts_.publish(std::make_shared<const Record>(std::move(tick)));
    tell_trouble();
}

// Once for each: a partial observation is never presented as complete.
void Agent::tell_trouble() {
    auto trouble = parts_.cgroups.trouble();
    if (trouble.empty()) {
        trouble = parts_.observer.trouble();
    }
    if (trouble.empty()) {
        trouble = pids_trouble_;
    }
    if (trouble != trouble_told_ && !trouble.empty()) {
        sys::log::error("looking at the node: " + trouble);
        notice(Notice::look_incomplete, "The look at the node is incomplete: " + trouble, trouble);
    }
    trouble_told_ = trouble;
}

// The state that was decided over is given away, not copied.
void Agent::note_for_tape(Tick& tick) {
    if (!recorded_config_) {
        return;
    }
    tick.number = ++looks_;
    tick.config = recorded_config_;
    tick.before = std::make_shared<const State>(std::move(state_));
}

// The timer fired and is off: whatever way is taken from here, also by an exception, it is armed again.
class Agent::RearmedTimer {
public:
    explicit RearmedTimer(Agent& agent) : agent_(agent) { agent_.timer_armed_ = false; }
    RearmedTimer(const RearmedTimer&) = delete;
    RearmedTimer& operator=(const RearmedTimer&) = delete;
    ~RearmedTimer() {
        if (agent_.timer_armed_) {
            return;
        }
        agent_.next_look_ = agent_.parts_.clock.monotonic() + look_after_a_failed_one;
        agent_.next_rehearsal_ = MonotonicTime::max();
        agent_.arm_timer();
    }

private:
    Agent& agent_;
};

void Agent::on_timer() {
    const RearmedTimer timer(*this);
    if (const auto now = parts_.clock.monotonic(); next_rehearsal_ <= now && now < next_look_) {
        if (get_ready()) {
            on_kernel_events();
        }
        return;
    }
    if (!parts_.events.tells_of_pods()) {
        forget_removed_root();
    }
    if (!root_ || pods_may_run_elsewhere()) {
        (void)follow_later();
    } else if (!parts_.events.tells_of_pods()) {
        list_cgroups();
    }
    const auto now = parts_.clock.monotonic();
    tick(put_off_.value_or(Cause{.kind = CauseKind::timer, .event = {}, .detected_at = now}));
}

void Agent::set_pods(std::size_t source, port::PodSet set) {
    const auto faults = source_faults_.note(source, set, parts_.clock.monotonic());
    for (const auto& error : faults.rejected) {
        if (error.kind == ErrorKind::vanished) {
            sys::log::warn(error.text());  // the whole directory is not there (yet): no pod's fault
            if (table_.has_pods_of(source)) {
                notice(Notice::look_incomplete,
                       error.text() + "; its pods are not known any more and cannot be evicted", error.why);
            }
            continue;
        }
        notice(Notice::pod_rejected, error.text(), error.why);
    }
    if (const auto unread = say_unread(faults.unread); !unread.empty()) {
        sys::log::error(unread);
        notice(Notice::look_incomplete, unread, faults.unread.front().why);
    }
    const bool is_news = note_source(source, set);
    if (!is_news && table_.has_exactly(source, set.pods)) {
        return;
    }
    table_.set_pods(source, std::move(set.pods), parts_.clock.monotonic());
    if (!std::exchange(look_at_pods_posted_, true) && !parts_.loop.post([this] { look_at_pods(); })) {
        look_at_pods();
    }
}

// Takes over what a source reports besides its pods. False: nothing new, but perhaps when its server was last heard.
bool Agent::note_source(std::size_t source, port::PodSet& set) {
    const bool were_complete = are_pods_complete();
    bool is_news = false;
    if (set.current) {
        is_news = std::exchange(pods_current_, *set.current) != *set.current;
        auto before = std::exchange(node_, std::move(set.node));
        if (before && node_) {
            before->heard_at = node_->heard_at;
        }
        is_news = is_news || before != node_;
    }
    note_complete(source, set);
    return is_news || were_complete != are_pods_complete();
}

// A directory of manifests that was never there has no pods; of one that is away all may be there.
void Agent::note_complete(std::size_t source, const port::PodSet& set) {
    const bool is_away = std::any_of(set.rejected.begin(), set.rejected.end(), [&](const Error& error) {
        return error.kind != ErrorKind::vanished || table_.has_pods_of(source);
    });
    complete_sources_.resize(std::max(complete_sources_.size(), source + 1));
    complete_sources_[source] = set.unread.empty() && !is_away;
}

bool Agent::are_pods_complete() const {
    return pods_current_ && options_.pod_sources != 0 && complete_sources_.size() >= options_.pod_sources &&
           std::find(complete_sources_.begin(), complete_sources_.end(), false) == complete_sources_.end();
}

void Agent::look_at_pods() {
    look_at_pods_posted_ = false;
    tick(Cause{.kind = CauseKind::pods_changed, .event = {}, .detected_at = parts_.clock.monotonic()});
}

void Agent::set_config(const EvictionConfig& eviction) {
    options_.eviction = eviction;
    options_ = as_it_can_act(std::move(options_), static_cast<bool>(parts_.disks));
    if (options_.record) {
        recorded_config_ = std::make_shared<const EvictionConfig>(options_.eviction);
    }
    rank_by_processes();
    tick(Cause{.kind = CauseKind::config, .event = {}, .detected_at = parts_.clock.monotonic()});
}

void Agent::notice(Notice notice, std::string message, std::string error) {
    parts_.publish(std::make_shared<const Record>(AgentNotice{
        .notice = notice, .wall = parts_.clock.wall(), .message = std::move(message), .error = std::move(error)}));
}

}  // namespace evictd::app

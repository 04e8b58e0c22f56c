// SPDX-License-Identifier: Apache-2.0
#include "app/agent.hpp"

#include <algorithm>
#include <utility>

#include "app/watermarks.hpp"
#include "policy/decide.hpp"
#include "sys/log.hpp"

namespace evictd::app {
namespace {

// The kernel says a line is crossed, our own look a moment later says it is not: it trembles. Look again before it can
// move far (a hog at full speed takes 10 MiB in that time).
constexpr Duration look_when_disagreeing = std::chrono::milliseconds(5);
// A threshold stays met and no event is due: nobody could be evicted, or it was not enough. The kubelet waits 10 s
// here.
constexpr Duration look_under_pressure = std::chrono::milliseconds(100);
// For people who watch: as often as a screen is worth redrawing.
constexpr Duration look_for_readers = std::chrono::milliseconds(20);
// After a kill the freed pages sit in per-CPU lists this long before MemFree counts them (3 s measured on 6.18).
constexpr Duration memory_returns_within = std::chrono::seconds(5);

}  // namespace

Agent::Agent(Parts parts, AgentOptions options) : parts_(std::move(parts)), options_(std::move(options)) {}

Status Agent::start() {
    auto timer = parts_.loop.add_timer([this] { on_timer(); });
    if (!timer) {
        return tl::unexpected(timer.error());
    }
    timer_ = std::move(*timer);
    follow_pods_root();
    if (stopped_by_) {
        return tl::unexpected(*stopped_by_);
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

// The whole program: look, decide, act, tell.
void Agent::tick(Cause cause) {
    const bool memory_returning = parts_.clock.monotonic() - last_kill_ < memory_returns_within;
    Tick tick{.dry_run = options_.dry_run};
    tick.observation = parts_.observer.look(std::move(cause), table_, std::exchange(outcomes_, {}), memory_returning);
    auto verdict = policy::decide(options_.eviction, tick.observation, state_);
    tick.decided_at = parts_.clock.monotonic();
    tick.outcomes = parts_.executor.carry_out(verdict.decision.actions, tick.decided_at,
                                              [this](const PodUid& uid) { return table_.cgroup_of(uid); });
    tick.decision = std::move(verdict.decision);
    tick.kernel_events = std::exchange(kernel_events_, {});
    name_owners(tick.kernel_events);
    state_ = std::move(verdict.state);
    outcomes_ = tick.outcomes;
    last_look_ = tick.observation.at;
    watch(tick.observation.readings);
    schedule(tick);
    parts_.publish(std::make_shared<const Record>(std::move(tick)));
    if (parts_.observer.trouble() != trouble_told_) {
        trouble_told_ = parts_.observer.trouble();
        if (!trouble_told_.empty()) {
            sys::log::error("looking at the node: " + trouble_told_);
        }
    }
}

void Agent::on_kernel_events() {
    const auto detected_at = parts_.clock.monotonic();
    std::optional<KernelEvent> cause;
    parts_.events.drain([&](const KernelEvent& event) {
        if (!take(event)) {
            return;
        }
        // The cause is the first that calls for a look, unless a threshold was crossed: that is what the look is for.
        const bool crossing = std::holds_alternative<WatermarkCrossed>(event.kind);
        if (!cause || (crossing && !std::holds_alternative<WatermarkCrossed>(cause->kind))) {
            cause = event;
        }
        kernel_events_.push_back(event);  // told with the look that follows: no more than the ring buffer holds
    });
    if (!root_ && !stopped_by_) {
        follow_pods_root();
    }
    if (cause) {
        tick(Cause{.kind = CauseKind::kernel_event, .event = std::move(cause), .detected_at = detected_at});
    }
}

// Notes what an event says. True if it calls for a look now.
bool Agent::take(const KernelEvent& event) {
    if (const auto* crossed = std::get_if<WatermarkCrossed>(&event.kind)) {
        const auto same = [&](const port::Watermark& line) {
            return line.signal == crossed->signal && line.threshold == crossed->threshold;
        };
        std::erase_if(lines_under_, same);
        if (crossed->under) {
            lines_under_.push_back({crossed->signal, crossed->threshold});
        }
        return true;
    }
    if (const auto* life = std::get_if<CgroupLife>(&event.kind)) {
        const bool emptied = life->change == CgroupChange::emptied || life->change == CgroupChange::removed;
        if (root_ && life->change == CgroupChange::removed && life->cgroup == root_->id) {
            root_.reset();
            (void)parts_.events.follow(std::nullopt);
            table_.set_cgroups({});
            return true;
        }
        table_.apply(*life, event.time, parts_.cgroups);
        return pressure_ && emptied;
    }
    if (std::holds_alternative<EventsLost>(event.kind)) {
        list_cgroups();  // what was lost may have been news of one
        return true;
    }
    if (const auto* breach = std::get_if<MemcgBreach>(&event.kind)) {
        return root_ && breach->cgroup == root_->id;  // a container at its own limit is its own affair
    }
    return true;
}

void Agent::on_timer() {
    if (!root_ && !stopped_by_) {
        follow_pods_root();
    } else if (parts_.events.look_within(Bytes{0})) {
        list_cgroups();  // nobody tells us of new ones
    }
    tick(Cause{.kind = CauseKind::timer, .event = {}, .detected_at = parts_.clock.monotonic()});
}

void Agent::request_look() {
    const auto now = parts_.clock.monotonic();
    if (now - last_look_ >= look_for_readers) {
        tick(Cause{.kind = CauseKind::requested, .event = {}, .detected_at = now});
    }
}

void Agent::set_pods(std::size_t source, port::PodSet set) {
    for (const auto& error : set.rejected) {
        if (error.kind == ErrorKind::vanished) {
            sys::log::warn(error.text());  // the whole directory is not there (yet): no pod's fault
            continue;
        }
        notice(Notice::pod_rejected, error.text(), error.why);
    }
    table_.set_pods(source, std::move(set.pods));
    tick(Cause{.kind = CauseKind::pods_changed, .event = {}, .detected_at = parts_.clock.monotonic()});
}

void Agent::set_config(const EvictionConfig& eviction, Duration look_period) {
    options_.eviction = eviction;
    options_.look_period = look_period;
    tick(Cause{.kind = CauseKind::config, .event = {}, .detected_at = parts_.clock.monotonic()});
}

void Agent::notice(Notice notice, std::string message, std::string error) {
    parts_.publish(std::make_shared<const Record>(AgentNotice{
        .notice = notice, .wall = parts_.clock.wall(), .message = std::move(message), .error = std::move(error)}));
}

void Agent::follow_pods_root() {
    const auto found = parts_.cgroups.find_pods_root();
    if (!found) {
        (void)parts_.events.follow(std::nullopt);
        return;
    }
    auto done = parts_.claim_root(*found);
    if (!done) {
        sys::log::error(done.error().text());
        stopped_by_ = done.error();
        parts_.loop.stop();
        return;
    }
    // First hear of what is new, then list what is there: nothing falls between.
    if (done = parts_.events.follow(found); !done) {
        if (done.error().kind != ErrorKind::vanished) {
            sys::log::error(done.error().text());
        }
        return;
    }
    root_ = found;
    list_cgroups();
}

void Agent::list_cgroups() {
    if (auto found = parts_.cgroups.list_pods()) {
        table_.set_cgroups(std::move(*found));
    }
}

// The kernel names a container's cgroup; people know pods.
void Agent::name_owners(std::vector<KernelEvent>& events) const {
    for (auto& event : events) {
        if (auto* kill = std::get_if<OomKill>(&event.kind)) {
            kill->pod = parts_.observer.owner_of(kill->cgroup, table_).value_or(PodUid{});
        }
    }
}

// Percentages follow the capacity, and a new limit of the pods' cgroup is a new capacity.
void Agent::watch(const Readings& readings) {
    auto wanted = watermarks_for(options_.eviction.thresholds, readings);
    const auto same = [](const port::Watermark& a, const port::Watermark& b) {
        return a.signal == b.signal && a.threshold == b.threshold;
    };
    if (std::equal(wanted.begin(), wanted.end(), watermarks_.begin(), watermarks_.end(), same)) {
        return;
    }
    lines_under_.clear();  // every line is compared and told afresh
    if (auto watching = parts_.events.watch(wanted); !watching) {
        sys::log::error(watching.error().text());
        return;
    }
    watermarks_ = std::move(wanted);
}

// Whether the kernel's last word on some line is that it is crossed, and our own look says it is not.
bool Agent::disagrees(const Readings& readings) const {
    return std::any_of(lines_under_.begin(), lines_under_.end(), [&](const port::Watermark& line) {
        const auto& reading = readings[static_cast<std::size_t>(line.signal)];
        return reading && reading->available.value >= line.threshold.value;
    });
}

std::optional<Duration> Agent::look_soon(const Tick& tick) const {
    const auto& decision = tick.decision;
    if (const auto timed = parts_.events.look_within(Bytes{0})) {
        const auto distance = nearest(watermarks_, tick.observation.readings);
        return decision.in_flight.empty() && distance ? parts_.events.look_within(*distance) : timed;
    }
    if (disagrees(tick.observation.readings)) {
        return look_when_disagreeing;
    }
    const bool met = !decision.thresholds_met.empty() || !decision.thresholds_pending.empty();
    return met ? std::optional(look_under_pressure) : std::nullopt;
}

void Agent::schedule(const Tick& tick) {
    const auto now = parts_.clock.monotonic();
    const auto& decision = tick.decision;
    pressure_ = !decision.thresholds_met.empty() || !decision.in_flight.empty();
    const auto killed = [](const Outcome& outcome) {
        return outcome.action.kind == ActionKind::kill && outcome.status == OutcomeStatus::delivered;
    };
    if (std::any_of(tick.outcomes.begin(), tick.outcomes.end(), killed)) {
        last_kill_ = now;
    }
    MonotonicTime next = now + options_.look_period;
    if (const auto soon = look_soon(tick)) {
        next = std::min(next, now + *soon);
    }
    if (decision.look_again_at) {
        next = std::min(next, std::max(*decision.look_again_at, now));
    }
    next_look_ = next;
    timer_.arm(next);
}

}  // namespace evictd::app

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/garbage_keeper.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "evictd/model/image_uses.hpp"

namespace evictd::reconcile {
namespace {

using namespace std::chrono_literals;

// containerd deletes snapshots some 100 ms after the last reference to them went, one after the other.
constexpr Duration measure_every = 100ms;
// Nothing came back for so long: nothing more does. Half of it is a pause of containerd's own, twice as much is time in
// which no pod is evicted.
constexpr Duration nothing_comes = 2s;

GarbageOutcome outcome_of(const Garbage& one, GarbageStatus status, std::string error = {}) {
    return {one.kind, one.id, status, std::move(error)};
}

// Not found is as wanted. Any other error proves nothing, and it stays.
GarbageOutcome unknown(const Garbage& one, const Error& error) {
    if (error.kind == ErrorKind::vanished) return outcome_of(one, GarbageStatus::vanished);
    return outcome_of(one, GarbageStatus::failed, error.text());
}

GarbageOutcome in_use(const Garbage& one, std::string why) {
    return outcome_of(one, GarbageStatus::in_use, std::move(why));
}

// A container is made, then started. One that was not started for so long will not be: its pod's kubelet has given up.
constexpr Duration longest_start = 10min;

bool may_be_running(ContainerState state) {
    return state == ContainerState::running || state == ContainerState::unknown;
}

}  // namespace

void GarbageKeeper::reconcile(const DesiredGarbage& desired) {
    if (desired.inventory_since && (!inventory_ || inventory_->at < *desired.inventory_since)) {
        inventory_ = parts_.look();
        parts_.tell_inventory(inventory_);
    }
    if (pass_ && pass_->desired.pass != desired.pass) pass_.reset();
    if (desired.pass > last_pass_) begin(desired);
}

void GarbageKeeper::begin(const DesiredGarbage& desired) {
    last_pass_ = desired.pass;
    pass_ = Pass{.desired = desired, .outcome = {}, .available_before = parts_.available(), .at = clock_.monotonic()};
    pass_->outcome.pass = desired.pass;
    if (desired.removals.empty()) finish();
}

std::optional<MonotonicTime> GarbageKeeper::due() const { return pass_ ? std::optional(pass_->at) : std::nullopt; }

void GarbageKeeper::act_on_time() {
    if (!pass_ || clock_.monotonic() < pass_->at) return;
    const bool is_late = clock_.monotonic() >= pass_->desired.deadline;
    if (is_late) return finish();
    pass_->next < pass_->desired.removals.size() ? remove_next() : measure();
}

void GarbageKeeper::remove_next() {
    const Garbage& one = pass_->desired.removals.begin()[pass_->next++];
    pass_->outcome.removals.push_back(remove(one));
    const auto& outcome = pass_->outcome.removals.back();
    if (outcome.status == GarbageStatus::failed && pass_->outcome.errors.size() < 8) {
        pass_->outcome.errors.push_back(one.name + ": " + outcome.error);
    }
    if (parts_.on_removal) parts_.on_removal(outcome);
}

// Sizes say little: images are counted as they were pulled and share layers. What the filesystem has more is counted,
// until as much as was said has come, or nothing comes any more.
void GarbageKeeper::measure() {
    const auto now = clock_.monotonic();
    const auto& removals = pass_->outcome.removals;
    const bool removed_any = std::any_of(removals.begin(), removals.end(),
                                         [](const auto& one) { return one.status == GarbageStatus::removed; });
    const auto available = parts_.available();
    if (!removed_any || !available || !pass_->available_before) return finish();
    const Bytes freed{std::max<std::int64_t>(0, available->value - pass_->available_before->value)};
    if (!pass_->last_growth || freed > pass_->outcome.freed.value_or(Bytes{})) pass_->last_growth = now;
    pass_->outcome.freed = std::max(freed, pass_->outcome.freed.value_or(Bytes{}));
    const Bytes said = bytes_of({pass_->desired.removals.begin(), pass_->desired.removals.end()});
    if (freed >= said || now - *pass_->last_growth >= nothing_comes) return finish();
    pass_->at = now + measure_every;
}

void GarbageKeeper::finish() {
    auto outcome = std::move(pass_->outcome);
    pass_.reset();
    parts_.tell(std::move(outcome));
}

GarbageOutcome GarbageKeeper::remove(const Garbage& one) {
    if (auto stays = why_not(one)) return std::move(*stays);
    if (parts_.dry_run) return outcome_of(one, GarbageStatus::dry_run);
    const auto done = carry_out(one);
    if (done) return outcome_of(one, GarbageStatus::removed);
    if (done.error().kind == ErrorKind::invalid) {
        return outcome_of(one, GarbageStatus::refused, done.error().text());
    }
    return unknown(one, done.error());
}

std::optional<GarbageOutcome> GarbageKeeper::why_not(const Garbage& one) {
    switch (one.kind) {
        case GarbageKind::container:
            return why_not_container(one);
        case GarbageKind::sandbox:
            return why_not_sandbox(one);
        case GarbageKind::image:
            return why_not_image(one);
        case GarbageKind::log_directory:
            return why_not_logs(one);
        case GarbageKind::log_link:
        case GarbageKind::rotated_log:
            return std::nullopt;  // their names, types and targets are checked as they are removed
    }
    return outcome_of(one, GarbageStatus::refused, "of an unknown kind");
}

std::optional<GarbageOutcome> GarbageKeeper::why_not_container(const Garbage& one) {
    const auto found = runtime_.container(one.id);
    if (!found) return unknown(one, found.error());
    const RuntimeContainer& container = found->container;
    if (may_be_running(container.state)) return in_use(one, "it runs");
    const bool is_new = clock_.wall() - container.created < longest_start;
    if (container.state == ContainerState::created && is_new) return in_use(one, "it is about to be started");
    return std::nullopt;
}

// With a sandbox the runtime removes its containers, running or not.
std::optional<GarbageOutcome> GarbageKeeper::why_not_sandbox(const Garbage& one) {
    const auto found = runtime_.sandbox(one.id);
    if (!found) return unknown(one, found.error());
    if (found->sandbox.ready) return in_use(one, "it is ready");
    const auto containers = runtime_.containers();
    if (!containers) return outcome_of(one, GarbageStatus::failed, containers.error().text());
    for (const auto& container : *containers) {
        if (container.sandbox == one.id) return in_use(one, "container " + container.name + " is in it");
    }
    return std::nullopt;
}

std::optional<GarbageOutcome> GarbageKeeper::why_not_image(const Garbage& one) {
    auto images = runtime_.images();
    if (!images) return outcome_of(one, GarbageStatus::failed, images.error().text());
    auto containers = runtime_.containers();  // after the images: the newest word on what uses them
    if (!containers) return outcome_of(one, GarbageStatus::failed, containers.error().text());
    Runtime now;
    now.images = std::move(*images);
    now.containers = std::move(*containers);
    const auto users = find_image_users(now, {});
    const auto image = std::find_if(now.images.begin(), now.images.end(),
                                    [&](const RuntimeImage& image) { return image.id == one.id; });
    if (image == now.images.end()) return outcome_of(one, GarbageStatus::vanished);
    if (image->pinned) return in_use(one, "it is pinned");
    const auto* user = users.of[static_cast<std::size_t>(image - now.images.begin())].staying;
    if (user != nullptr) return in_use(one, "container " + user->name + " uses it");
    // It may be this one, whose tag has moved to another.
    if (users.unresolved != nullptr) {
        return in_use(one, "container " + users.unresolved->name + " uses an image that is not listed");
    }
    return std::nullopt;
}

// A pod of that UID may have come back, a static one for example.
std::optional<GarbageOutcome> GarbageKeeper::why_not_logs(const Garbage& one) {
    const auto sandboxes = runtime_.sandboxes();
    const auto containers = sandboxes ? runtime_.containers() : tl::unexpected(sandboxes.error());
    if (!containers) return outcome_of(one, GarbageStatus::failed, containers.error().text());
    const auto is_its = [&](const auto& other) { return other.pod == one.pod.value; };
    const bool any = std::any_of(sandboxes->begin(), sandboxes->end(), is_its) ||
                     std::any_of(containers->begin(), containers->end(), is_its);
    return any ? std::optional(in_use(one, "its pod has a sandbox or container")) : std::nullopt;
}

Status GarbageKeeper::carry_out(const Garbage& one) {
    switch (one.kind) {
        case GarbageKind::container:
            return runtime_.remove_container(one.id);
        case GarbageKind::sandbox: {
            auto stopped = runtime_.stop_sandbox(one.id);  // gives its network back
            const bool is_gone = !stopped && stopped.error().kind == ErrorKind::vanished;
            return stopped || is_gone ? runtime_.remove_sandbox(one.id) : stopped;
        }
        case GarbageKind::image:
            return runtime_.remove_image(one.id);
        case GarbageKind::log_directory:
        case GarbageKind::log_link:
        case GarbageKind::rotated_log:
            break;
    }
    return logs_.remove(one.kind, one.id);
}

}  // namespace evictd::reconcile

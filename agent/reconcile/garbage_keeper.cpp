// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/garbage_keeper.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace evictd::reconcile {
namespace {

using namespace std::chrono_literals;

// containerd deletes snapshots some 100 ms after the last reference to them went, one after the other. What was not
// taken is told again as soon.
constexpr Duration again = 100ms;
// A runtime that comes and goes is not asked for its lists each time.
constexpr Duration list_again_after = 1s;
constexpr std::size_t most_errors = 8;

bool is_of_runtime(GarbageKind kind) {
    return kind == GarbageKind::container || kind == GarbageKind::sandbox || kind == GarbageKind::image;
}

// The runtime has answered, and not with a "done"; of a log: it is none any more; of volumes: they are mounted, or not
// the kubelet's; of a cgroup: it is not a pod's, or cgroups are read-only.
bool is_refusal(GarbageKind kind, const Error& error) {
    return error.kind == (is_of_runtime(kind) ? ErrorKind::failed : ErrorKind::invalid);
}

bool is_only_orphans(GarbageKind kind) { return kind == GarbageKind::volume_directory || kind == GarbageKind::cgroup; }

}  // namespace

void GarbageKeeper::reconcile(const DesiredGarbage& desired) {
    if (desired.inventory_since && (!inventory_ || inventory_->at < *desired.inventory_since)) list();
    if (pass_ && pass_->desired.pass != desired.pass) pass_.reset();
    if (desired.pass > last_pass_) begin(desired);
}

void GarbageKeeper::list_what_lacks() {
    const auto is_whole = [](const RuntimeLists& of) { return of.sandboxes && of.containers && of.images; };
    if (inventory_ && is_whole(inventory_->whole)) return;
    const MonotonicTime earliest = listed_at_ ? *listed_at_ + list_again_after : clock_.monotonic();
    if (clock_.monotonic() < earliest) {
        list_due_ = earliest;
    } else {
        list();
    }
}

void GarbageKeeper::list() {
    list_due_.reset();
    inventory_ = parts_.look();
    listed_at_ = clock_.monotonic();
    tell_inventory();
}

void GarbageKeeper::tell_inventory() {
    inventory_due_ = parts_.tell_inventory(inventory_) ? std::nullopt : std::optional(clock_.monotonic() + again);
}

void GarbageKeeper::begin(const DesiredGarbage& desired) {
    last_pass_ = desired.pass;
    pass_ = Pass{.desired = desired, .outcome = {}, .available_before = parts_.available(), .at = clock_.monotonic()};
    pass_->outcome.pass = desired.pass;
    pass_->outcome.forced = desired.forced;
    if (desired.removals.empty()) finish();
}

std::optional<MonotonicTime> GarbageKeeper::due() const {
    std::optional<MonotonicTime> first = pass_ ? std::optional(pass_->at) : std::nullopt;
    for (const auto& one : {inventory_due_, list_due_}) {
        if (one) first = std::min(first.value_or(*one), *one);
    }
    return first;
}

void GarbageKeeper::act_on_time() {
    if (list_due_ && clock_.monotonic() >= *list_due_) list();
    if (inventory_due_ && clock_.monotonic() >= *inventory_due_) tell_inventory();
    if (!pass_ || clock_.monotonic() < pass_->at) return;
    if (pass_->is_over) return finish();
    const bool is_late = clock_.monotonic() >= pass_->desired.deadline;
    if (!is_late && pass_->next < pass_->desired.removals.size()) return remove_next();
    if (!is_late && pass_->next_again < pass_->unanswered.size()) return remove_again();
    for (; pass_->next_again < pass_->unanswered.size(); pass_->next_again++) {
        auto& left = pass_->unanswered[pass_->next_again];
        note(*left.one, std::move(left.outcome));
    }
    measure();
}

void GarbageKeeper::release() {
    pass_.reset();
    inventory_due_.reset();
    list_due_.reset();
}

// What is behind one of which the runtime says nothing must not wait for it.
void GarbageKeeper::remove_next() {
    const Garbage& one = pass_->desired.removals.begin()[pass_->next++];
    auto attempt = remove(one);
    if (attempt.is_unanswered) {
        pass_->unanswered.push_back({&one, std::move(attempt.outcome), attempt.was_asked_to_remove});
    } else {
        note(one, std::move(attempt.outcome));
    }
}

void GarbageKeeper::remove_again() {
    const auto& unanswered = pass_->unanswered[pass_->next_again++];
    auto attempt = remove(*unanswered.one);
    const bool went_after_all = attempt.outcome.status == GarbageStatus::vanished && unanswered.was_asked_to_remove;
    if (went_after_all) attempt.outcome.status = GarbageStatus::removed;
    note(*unanswered.one, std::move(attempt.outcome));
}

void GarbageKeeper::note(const Garbage& one, GarbageOutcome outcome) {
    const bool is_error = outcome.status == GarbageStatus::failed || outcome.status == GarbageStatus::refused;
    if (is_error && pass_->outcome.errors.size() < most_errors) {
        pass_->outcome.errors.push_back(one.name + ": " + outcome.error);
    }
    if (outcome.status == GarbageStatus::removed) {
        const bool is_known = one.size || one.kind == GarbageKind::log_link;  // a link holds no bytes
        pass_->sizes_known = pass_->sizes_known && is_known;
        const std::array both{Garbage{.id = {}, .name = {}, .size = pass_->said, .why = {}}, one};
        pass_->said = bytes_of(both);  // never over its top
    }
    const bool goes = outcome.status == GarbageStatus::removed || outcome.status == GarbageStatus::dry_run;
    if (goes && !one.orphan_of.empty()) pass_->outcome.orphans.push_back(one);
    pass_->outcome.removals.push_back(std::move(outcome));
    if (parts_.on_removal) parts_.on_removal(one, pass_->outcome.removals.back());
}

// Sizes say little: images are counted as they were pulled and share layers. What the filesystem has more is counted,
// until as much as was said has come. Where nothing is said of one, nobody knows when all is back.
void GarbageKeeper::measure() {
    const auto now = clock_.monotonic();
    const auto& removals = pass_->outcome.removals;
    const bool removed_any = std::any_of(removals.begin(), removals.end(),
                                         [](const auto& one) { return one.status == GarbageStatus::removed; });
    if (!removed_any || !pass_->available_before) return finish();
    if (!pass_->last_growth) pass_->last_growth = now;
    if (const auto available = parts_.available()) {
        const Bytes freed{std::max<std::int64_t>(0, available->value - pass_->available_before->value)};
        if (freed > pass_->outcome.freed.value_or(Bytes{})) pass_->last_growth = now;
        pass_->outcome.freed = std::max(freed, pass_->outcome.freed.value_or(Bytes{}));
    }
    if (is_all_back() || now >= pass_->desired.deadline) return finish();
    if (parts_.patience && now - *pass_->last_growth >= *parts_.patience) return finish();
    pass_->at = now + again;
}

bool GarbageKeeper::is_all_back() const {
    return pass_->sizes_known && pass_->outcome.freed && *pass_->outcome.freed >= pass_->said;
}

void GarbageKeeper::finish() {
    pass_->is_over = !parts_.tell(pass_->outcome);
    if (!pass_->is_over) return pass_.reset();
    pass_->at = clock_.monotonic() + again;
}

// Of a pod that no source knows. None: the API server says that it is gone.
std::optional<GarbageOutcome> GarbageKeeper::why_no_orphan(const Garbage& one) const {
    if (one.orphan_of.empty()) return std::nullopt;
    if (!parts_.is_gone) {
        return GarbageOutcome{one.kind, one.id, GarbageStatus::failed,
                              "there is no API server to ask whether its pod is gone"};
    }
    const auto gone = parts_.is_gone(one.pod, one.orphan_of);
    if (!gone) return GarbageOutcome{one.kind, one.id, GarbageStatus::failed, gone.error().text()};
    if (!*gone) return GarbageOutcome{one.kind, one.id, GarbageStatus::in_use, "the API server has its pod"};
    return std::nullopt;
}

// The newest word on the pod's processes: those of containers that the runtime has lost are in none of its lists.
std::optional<GarbageOutcome> GarbageKeeper::why_it_lives(const Garbage& one) const {
    if (one.orphan_of.empty()) return std::nullopt;
    if (parts_.remains == nullptr) {
        return GarbageOutcome{one.kind, one.id, GarbageStatus::failed, "its pod's processes cannot be looked for"};
    }
    const auto life = parts_.remains->life(one.pod);
    if (!life) return GarbageOutcome{one.kind, one.id, GarbageStatus::failed, life.error().text()};
    if (!life->empty()) return GarbageOutcome{one.kind, one.id, GarbageStatus::in_use, *life};
    if (one.kind != GarbageKind::cgroup) return std::nullopt;
    if (parts_.cgroups == nullptr) {
        return GarbageOutcome{one.kind, one.id, GarbageStatus::failed, "cgroups cannot be removed here"};
    }
    const auto in_it = parts_.cgroups->life(one.pod, one.id);
    if (!in_it) return outcome_of(one, tl::unexpected(in_it.error()), GarbageStatus::removed).outcome;
    if (!in_it->empty()) return GarbageOutcome{one.kind, one.id, GarbageStatus::in_use, *in_it};
    return std::nullopt;
}

// What of its pod has to be removed before it. Pages of volumes are charged to the cgroup, and would be to its parent.
// Without the logs the pod's name is not known, by which the API server is asked.
std::optional<GarbageOutcome> GarbageKeeper::why_it_waits(const Garbage& one) const {
    const auto found = pass_->left.find(one.pod.value);
    if (found == pass_->left.end()) return std::nullopt;
    const Left& left = found->second;
    const char* before = nullptr;
    if (one.kind == GarbageKind::cgroup && left.has_volumes) before = "its pod's volume directory has to go before";
    if (one.kind == GarbageKind::log_directory && left.may_lose_cgroup) before = "its pod's cgroup has to go before";
    if (one.kind == GarbageKind::log_directory && left.may_lose_volumes) {
        before = "its pod's volume directory has to go before";
    }
    return before == nullptr ? std::nullopt
                             : std::optional(GarbageOutcome{one.kind, one.id, GarbageStatus::in_use, before});
}

void GarbageKeeper::note_left(const Garbage& one, const Attempt& attempt) {
    if (!is_only_orphans(one.kind)) return;
    const auto status = attempt.outcome.status;
    const bool may_go = attempt.is_unanswered || status == GarbageStatus::failed || status == GarbageStatus::in_use;
    Left& left = pass_->left[one.pod.value];
    if (one.kind == GarbageKind::volume_directory) {
        left.may_lose_volumes = may_go;
        left.has_volumes = may_go || status == GarbageStatus::refused;
    } else {
        left.may_lose_cgroup = may_go && !left.has_volumes;
    }
}

GarbageKeeper::Attempt GarbageKeeper::remove(const Garbage& one) {
    auto attempt = try_to_remove(one);
    note_left(one, attempt);
    return attempt;
}

// Volumes are in no list, and may not be there. All else was listed, by the runtime or right before.
Status GarbageKeeper::look_at(const Garbage& one) const {
    return one.kind == GarbageKind::volume_directory ? parts_.remains->check_volumes(one.pod) : Status{};
}

// The API server first, which takes longer: what the runtime and the kernel say is to be as new as it can be.
GarbageKeeper::Attempt GarbageKeeper::try_to_remove(const Garbage& one) {
    if (is_only_orphans(one.kind) && one.orphan_of.empty()) {
        return {.outcome = {one.kind, one.id, GarbageStatus::failed, "is removed of orphans only"}};
    }
    if (auto waits = why_it_waits(one)) return {.outcome = std::move(*waits)};
    if (auto known = why_no_orphan(one)) return {.outcome = std::move(*known)};
    if (auto stays = uses_.why_it_stays(one, inventory_ ? inventory_->sandbox_image : std::string())) {
        return {.outcome = std::move(stays->outcome), .is_unanswered = stays->is_unanswered};
    }
    if (auto lives = why_it_lives(one)) return {.outcome = std::move(*lives)};
    if (parts_.dry_run || pass_->desired.report_only) return outcome_of(one, look_at(one), GarbageStatus::dry_run);
    return outcome_of(one, carry_out(one), GarbageStatus::removed);
}

GarbageKeeper::Attempt GarbageKeeper::outcome_of(const Garbage& one, const Status& done, GarbageStatus success) const {
    if (done) return {.outcome = {one.kind, one.id, success, {}}};
    if (is_refusal(one.kind, done.error())) {
        return {.outcome = {one.kind, one.id, GarbageStatus::refused, done.error().text()}};
    }
    auto unknown = unknown_use(one, done.error());
    unknown.outcome.goes_on = is_only_orphans(one.kind) && done.error().kind == ErrorKind::exhausted;
    return {.outcome = std::move(unknown.outcome),
            .is_unanswered = unknown.is_unanswered,
            .was_asked_to_remove = success == GarbageStatus::removed};
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
        case GarbageKind::volume_directory:
            return parts_.remains->remove_volumes(one.pod);
        case GarbageKind::cgroup:
            return parts_.cgroups->remove(one.pod, one.id);
        case GarbageKind::log_directory:
        case GarbageKind::log_link:
        case GarbageKind::rotated_log:
            break;
    }
    return logs_.remove(one.kind, one.id);
}

}  // namespace evictd::reconcile

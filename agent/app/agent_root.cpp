// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The pods' cgroup that goes and comes back while the agent runs, and that this is reported; the list of what is in it.
#include <algorithm>
#include <utility>
#include <vector>

#include "app/agent.hpp"
#include "sys/log.hpp"

namespace evictd::app {
namespace {

// A pod's cgroup could not be opened. A listing of 10,000 pods takes some 40 ms.
constexpr Duration list_again_after = std::chrono::seconds(1);

// Another agent works on the pods: it may end at any time.
constexpr Duration claim_again_after = std::chrono::seconds(1);

// Each tick carries them. Enough to look one up; where the runtime names them, all that a kubelet runs by default.
constexpr std::size_t unknown_pods_told = 3;
constexpr std::size_t unknown_pods_named = 110;

}  // namespace

// For people: what is watched, and what runs there that no source knows.
void Agent::note_place(Tick& tick) const {
    tick.pods_root = root_ ? root_->path : "";
    const auto& unknown = table_.unknown();
    tick.without_manifest.count = unknown.size();
    if (unknown.empty()) {
        return;
    }
    const auto most = tick.runtime_names ? unknown_pods_named : unknown_pods_told;
    auto& some = tick.without_manifest.some;
    for (const auto& one : parts_.observer.unknown(table_, most)) {
        some.push_back({.pod = one.pod, .working_set = one.working_set});
    }
    if (some.empty()) {  // usage could not be read
        for (std::size_t i = 0; i < std::min(unknown.size(), most); i++) {
            some.push_back({.pod = unknown[i].pod});
        }
    }
    std::stable_sort(some.begin(), some.end(),
                     [](const auto& a, const auto& b) { return a.working_set > b.working_set; });
}

// Where there is no pods' cgroup nothing can be read and no pod is protected. That must not look like a calm node.
void Agent::tell_root() {
    const std::string path = root_ ? root_->path : "";
    if (root_told_ == path) {
        return;
    }
    const auto before = std::exchange(root_told_, path);
    if (path.empty()) {
        const std::string what = before ? "The pods' cgroup " + *before + " was removed" : "No pods' cgroup is watched";
        sys::log::warn(what + ": no pod is protected until there is one");
        notice(Notice::signal_source_changed, what + ": no pod is protected until there is one", "no pods' cgroup");
    } else if (before) {
        notice(Notice::signal_source_changed, "The pods' cgroup " + path + " is watched: its pods are protected");
    }
}

void Agent::lose_root() {
    root_.reset();
    (void)parts_.events.follow(std::nullopt);
    table_.set_cgroups({}, parts_.clock.monotonic());
}

// Where no source may have reported its removal.
void Agent::forget_removed_root() {
    if (!root_) {
        return;
    }
    const auto found = parts_.cgroups.find_pods_root();
    const bool is_removed =
        found ? found->path == root_->path && found->id != root_->id : found.error().kind == ErrorKind::vanished;
    if (is_removed) {
        lose_root();
    }
}

// Below a root that no process is in, pods may never come: it was left by a kubelet with another cgroup driver.
bool Agent::pods_may_run_elsewhere() {
    const auto known = parts_.observer.found(root_->id);
    if (!known || known->populated) {
        return false;
    }
    const auto found = parts_.cgroups.find_pods_root();
    return found && found->id != root_->id;
}

// A refusal is reported once for each reason. True: there is a root now.
bool Agent::follow_later() {
    const auto now = parts_.clock.monotonic();
    if (!claim_refused_.empty() && now < claim_again_at_) {
        return root_.has_value();
    }
    claim_again_at_ = now + claim_again_after;
    const auto claimed = follow_pods_root();
    const std::string refused = claimed ? "" : claimed.error().text();
    if (refused != claim_refused_ && !refused.empty()) {
        sys::log::error(refused);
        notice(Notice::look_incomplete, "These pods are not watched: " + refused, refused);
    }
    claim_refused_ = refused;
    return root_.has_value();
}

// An error: another agent works on these pods.
Status Agent::follow_pods_root() {
    const auto found = parts_.cgroups.find_pods_root();
    if (!found) {
        if (!root_) {
            (void)parts_.events.follow(std::nullopt);
        }
        return {};  // where it is unknown whether there is one, trouble() says so
    }
    auto done = parts_.claim_root(*found);
    if (!done) {
        return done;
    }
    // First hear of what is new, then list what is there: nothing falls between.
    if (done = parts_.events.follow(*found); !done) {
        if (done.error().kind != ErrorKind::vanished) {
            sys::log::error(done.error().text());
        }
        return {};
    }
    root_ = *found;
    list_cgroups();
    return {};
}

// A pod that could not be opened may run all the same: what is held of it stays, and it is listed again soon.
void Agent::list_cgroups() {
    std::vector<port::FoundPod> found;
    const auto listed = parts_.cgroups.each_pod([&](port::FoundPod pod) { found.push_back(std::move(pod)); });
    all_listed_ = listed || listed.error().kind == ErrorKind::vanished;
    const auto now = parts_.clock.monotonic();
    list_again_at_ = now + list_again_after;
    if (listed) {
        table_.set_cgroups(std::move(found), now);
    } else {
        table_.add_cgroups(std::move(found), now);
    }
}

// Before a look: it must not choose among the others for want of a descriptor a while ago.
void Agent::list_again() {
    if (!all_listed_ && root_ && parts_.clock.monotonic() >= list_again_at_) {
        list_cgroups();
    }
}

// A pod's cgroup that was made could not be opened.
void Agent::expect_listing() {
    if (std::exchange(all_listed_, false)) {
        next_look_ = std::min(next_look_, parts_.clock.monotonic() + list_again_after);
        arm_timer();
    }
}

}  // namespace evictd::app

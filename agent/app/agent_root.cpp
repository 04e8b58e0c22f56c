// SPDX-License-Identifier: Apache-2.0
// The pods' cgroup that goes and comes back while the agent runs, and that this is reported.
#include <utility>

#include "app/agent.hpp"
#include "sys/log.hpp"

namespace evictd::app {

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

// Its removal may not have been told: there are sources that cannot.
void Agent::forget_removed_root() {
    if (root_) {
        const auto found = parts_.cgroups.find_pods_root();
        if (!found || (found->path == root_->path && found->id != root_->id)) {
            lose_root();
        }
    }
}

}  // namespace evictd::app

// SPDX-License-Identifier: Apache-2.0
#include "kernel/node_stalls.hpp"

namespace evictd::kernel {

void NodeStalls::want(const EvictionConfig& config) {
    wanted_ = {};
    wanted_.front() = map_ == nullptr;
    for (const auto& threshold : config.stalls) {
        const bool counted = threshold.resource == StallResource::memory && threshold.kind == StallKind::some;
        wanted_.at(static_cast<std::size_t>(threshold.resource)) |= !counted || map_ == nullptr;
    }
}

void NodeStalls::read(MonotonicTime now, std::vector<NodeStall>& stalls) {
    for (std::size_t i = 0; i < wanted_.size(); i++) {
        const auto resource = static_cast<StallResource>(i);
        NodeStall stall{.resource = resource, .some = {}, .full = {}};
        if (wanted_.at(i)) {
            if (auto read = files_.read(resource, now)) {
                stall = *read;
            }
        }
        if (resource == StallResource::memory && map_ != nullptr) {
            if (const auto counted = map_->node()) {
                stall.some = *counted;
            }
        }
        if (stall.some || stall.full) {
            stalls.push_back(stall);
        }
    }
}

}  // namespace evictd::kernel

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/pods_map.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "evictd/model/record.hpp"
#include "sys/log.hpp"

namespace evictd::app {
namespace {

std::uint64_t count(std::int64_t value) { return static_cast<std::uint64_t>(std::max<std::int64_t>(0, value)); }

template <std::size_t N>
void copy_text(char (&into)[N], const std::string& text) {  // NOLINT(*-avoid-c-arrays): the kernel's
    std::memcpy(into, text.data(), std::min(text.size(), N - 1));
}

evictd_pod entry(const ObservedPod& observed, const RankedPod& ranked, std::uint32_t rank) {
    evictd_pod pod{};
    copy_text(pod.uid, observed.pod->uid.value);
    copy_text(pod.name, observed.pod->full_name());
    if (observed.usage) {
        pod.usage = count(observed.usage->usage.value);
        pod.working_set = count(observed.usage->working_set.value);
        pod.anon = count(observed.usage->anon.value);
        pod.file = count(observed.usage->file.value);
        pod.processes = static_cast<std::uint32_t>(observed.usage->processes);
    }
    pod.request = count(ranked.request.value);
    pod.victim_rank = rank;
    return pod;
}

}  // namespace

void PodsMap::publish(const RecordPtr& record) {
    const auto* tick = std::get_if<Tick>(record.get());
    if (tick == nullptr) {
        return;
    }
    std::vector<std::pair<CgroupId, evictd_pod>> pods;
    pods.reserve(tick->decision.ranking.size());
    std::uint32_t evictable = 0;
    for (const auto& ranked : tick->decision.ranking) {
        const std::uint32_t rank = ranked.exemption == Exemption::none ? ++evictable : 0;
        const auto& observed = tick->observation.pods[ranked.pod];
        if (observed.cgroup != CgroupId{}) {
            pods.emplace_back(observed.cgroup, entry(observed, ranked, rank));
        }
    }
    const auto shown = bpf_.show_pods(pods);
    if (!shown && !failed_) {
        sys::log::warn(shown.error().text());
    }
    failed_ = !shown;
}

}  // namespace evictd::app

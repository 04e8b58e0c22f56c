// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/load_words.hpp"

#include <cstdint>

namespace evictd::demo {
namespace {

using Words = std::vector<std::string>;

// How long the leaking pod takes to shut down: well inside its grace period, and long enough to be seen.
constexpr std::int64_t shutdown_ms = 1200;

std::string mib_of(std::int64_t bytes) { return std::to_string(bytes >> 20U); }

// Never more than the pods may have together: a limit that did not hold must not cost the machine its memory.
Words growth(const Plan& plan) {
    Words words{plan.neighbour ? "connect" : "grow", plan.growth == 0 ? "max" : mib_of(plan.growth), "--up-to",
                mib_of(plan.limit.value)};
    if (plan.pod_grace.count() > 0) {
        words.insert(words.end(), {"--term-ms", std::to_string(shutdown_ms)});
    }
    return words;
}

Words actor_words(const Plan& plan, const std::string& files) {
    switch (plan.scenario) {
        case Scenario::pagecache:
            return {"cache", files, mib_of(plan.files.value)};
        case Scenario::thrash:
            return {"reread", files, mib_of(plan.files.value)};
        case Scenario::oomrace:
            return {
                "grow",      "max", std::to_string(plan.actor_pod().processes), "--up-to", mib_of(plan.grows_to.value),
                "--together"};
        case Scenario::spike:
        case Scenario::leak:
        case Scenario::sockets:
            break;
    }
    return growth(plan);
}

}  // namespace

std::vector<std::string> load_words(const Plan& plan, const PodPlan& pod, const std::string& files) {
    const bool is_neighbour = plan.neighbour && &pod == &plan.pods[*plan.neighbour];
    const bool is_actor = &pod == &plan.actor_pod();
    if (!is_neighbour && !is_actor) {
        return {"hold", mib_of(pod.holds.value)};
    }
    Words words = is_actor ? actor_words(plan, files) : Words{"sockets"};
    words.insert(words.end(), {"--hold", mib_of(pod.holds.value), "--after", "-"});
    return words;
}

}  // namespace evictd::demo

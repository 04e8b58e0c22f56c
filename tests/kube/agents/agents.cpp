// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Many agents' traffic with one API server, from one process: each is the agent's own watch, client and reconcilers of
// pod and node statuses, for a node and a pod that the test has made (load-N). No kernel, no policy, no kill.
//
// usage: kube_agents KUBECONFIG AGENTS IDLE-SECONDS
// A line on stdout when all have listed, when they were idle for so long, and when each has reported its eviction;
// after the last two it waits for a byte on stdin.
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include "kube/cluster_pods.hpp"
#include "reconcile/control_loop.hpp"
#include "reconcile/node_status_keeper.hpp"
#include "reconcile/pod_status_keeper.hpp"
#include "sys/clock.hpp"

namespace evictd {
namespace {

using namespace std::chrono_literals;
using Statuses = reconcile::ControlLoop<reconcile::PodStatusKeeper>;
using Node = reconcile::ControlLoop<reconcile::NodeStatusKeeper>;

constexpr auto patience = 120s;

const sys::SystemClock real_clock;

double milliseconds(Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

// VmRSS.
long resident_kib() {
    std::ifstream file("/proc/self/status");
    std::string word;
    long value = 0;
    while (file >> word) {
        if (word == "VmRSS:" && file >> value) return value;
    }
    return 0;
}

class SimulatedAgent {
public:
    SimulatedAgent(int number, const std::string& kubeconfig)
        : node_name_("load-" + std::to_string(number)),
          pods_("of a test", [kubeconfig] { return kube::access_from_kubeconfig(kubeconfig); }, node_name_, {}) {}

    Status start() {
        if (auto started = pods_.start([this](port::PodSet set) { return take(std::move(set)); }); !started) {
            return started;
        }
        auto statuses = Statuses::make(
            {.name = "statuses", .duty = sys::Duty::may_block}, *pods_.api(), real_clock,
            [](const reconcile::IntentChange&) {}, reconcile::PodStatusOptions{.node = node_name_},
            [this](const PodStatusOutcome& outcome) {
                on_outcome(outcome);
                return true;
            });
        if (!statuses) return tl::unexpected(statuses.error());
        statuses_ = std::move(*statuses);
        statuses_->tell([to = statuses_.get()](reconcile::PodStatusKeeper& keeper) {
            keeper.connect([to] { to->tell([](auto& woken) { woken.take_answers(); }); });
        });
        const auto answers = std::make_shared<reconcile::ApiAnswers>();
        auto node = Node::make({.name = "node", .duty = sys::Duty::may_block}, *pods_.api(), real_clock,
                               reconcile::NodeStatusOptions{.node = node_name_}, answers);
        if (!node) return tl::unexpected(node.error());
        node_ = std::move(*node);
        answers->wake_by([to = node_.get()] { to->tell(&reconcile::NodeStatusKeeper::take_answers); });
        node_->want(node_status(false));
        return {};
    }

    [[nodiscard]] bool has_listed() const { return has_pod_; }
    [[nodiscard]] bool is_reported() const { return is_reported_; }
    [[nodiscard]] Duration took() const { return took_; }

    // What the kill path does: it leaves what is desired and goes on. How long that took.
    Duration evict() {
        const auto began = real_clock.monotonic();
        evicted_at_ = began;
        statuses_->want({{.pod = pod_->uid,
                          .name_space = pod_->name_space,
                          .name = pod_->name,
                          .reason = "Evicted",
                          .message = "The node was low on resource: memory. ",
                          .disruption_target = true,
                          .generation = pod_->generation,
                          .decided_at = began}});
        node_->want(node_status(true));
        return real_clock.monotonic() - began;
    }

private:
    static DesiredNodeStatus node_status(bool pressure) {
        DesiredNodeStatus wanted{
            .conditions = {{.type = "evictd.io/MemoryPressure",
                            .status = pressure,
                            .reason = pressure ? "KubeletHasInsufficientMemory" : "KubeletHasSufficientMemory",
                            .message = pressure ? "node has insufficient memory available"
                                                : "node has sufficient memory available"}},
            .taints = {}};
        if (pressure) wanted.taints = {{.key = "evictd.io/memory-pressure", .value = "", .effect = "NoSchedule"}};
        return wanted;
    }
    bool take(port::PodSet set) {
        if (has_pod_ || set.pods.empty()) return true;
        pod_ = set.pods.front();
        has_pod_ = true;
        return true;
    }
    void on_outcome(const PodStatusOutcome& outcome) {
        if (outcome.result != PodStatusResult::accepted) {
            (void)std::fprintf(stderr, "%s: %s\n", node_name_.c_str(), outcome.error.c_str());
            return;
        }
        took_ = real_clock.monotonic() - evicted_at_;
        is_reported_ = true;
    }

    std::string node_name_;
    PodPtr pod_;
    std::atomic<bool> has_pod_ = false;
    MonotonicTime evicted_at_;
    Duration took_{0};
    std::atomic<bool> is_reported_ = false;
    kube::ClusterPods pods_;
    std::unique_ptr<Statuses> statuses_;
    std::unique_ptr<Node> node_;
};

using Agents = std::vector<std::unique_ptr<SimulatedAgent>>;

bool wait_for_all(const Agents& agents, bool (SimulatedAgent::*is_done)() const) {
    const auto end = real_clock.monotonic() + patience;
    while (!std::all_of(agents.begin(), agents.end(), [&](const auto& agent) { return (agent.get()->*is_done)(); })) {
        if (real_clock.monotonic() >= end) return false;
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

void say(const std::string& line) {
    std::printf("%s\n", line.c_str());
    (void)std::fflush(stdout);
}

std::string spread(std::vector<Duration> all) {
    std::sort(all.begin(), all.end());
    std::array<char, 100> text{};
    (void)std::snprintf(text.data(), text.size(), "median %.3f p99 %.3f longest %.3f",
                        milliseconds(all[all.size() / 2]), milliseconds(all[all.size() * 99 / 100]),
                        milliseconds(all.back()));
    return text.data();
}

int evict_all(const Agents& agents) {
    std::vector<Duration> held_up;
    for (const auto& agent : agents) held_up.push_back(agent->evict());
    if (!wait_for_all(agents, &SimulatedAgent::is_reported)) return EXIT_FAILURE;
    std::vector<Duration> took;
    for (const auto& agent : agents) took.push_back(agent->took());
    say("reported ms: " + spread(took) + "; kill path held up ms: " + spread(held_up));
    std::this_thread::sleep_for(3s);  // the nodes' conditions and taints
    say("settled");
    (void)std::getchar();
    return EXIT_SUCCESS;
}

int run(const std::string& kubeconfig, int count, int idle_seconds) {
    rlimit files{};
    (void)getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    const long before = resident_kib();
    Agents agents;
    for (int i = 0; i < count; i++) {
        agents.push_back(std::make_unique<SimulatedAgent>(i, kubeconfig));
        if (auto started = agents.back()->start(); !started) {
            (void)std::fprintf(stderr, "%s\n", started.error().text().c_str());
            return EXIT_FAILURE;
        }
    }
    if (!wait_for_all(agents, &SimulatedAgent::has_listed)) return EXIT_FAILURE;
    std::this_thread::sleep_for(5s);  // the nodes' first conditions
    say("listed kib_each: " + std::to_string((resident_kib() - before) / count));
    std::this_thread::sleep_for(std::chrono::seconds(idle_seconds));
    say("idle");
    (void)std::getchar();
    const int status = evict_all(agents);
    (void)std::fflush(nullptr);
    std::_Exit(status);  // without putting back what they have shown: the test's server goes with it
}

int number_of(std::string_view text) {
    int number = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace
}  // namespace evictd

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() != 3 || evictd::number_of(words[1]) < 1) {
        (void)std::fprintf(stderr, "usage: kube_agents KUBECONFIG AGENTS IDLE-SECONDS\n");
        return 2;
    }
    return evictd::run(words[0], evictd::number_of(words[1]), evictd::number_of(words[2]));
}

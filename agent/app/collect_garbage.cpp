// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/collect_garbage.hpp"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "app/garbage_filesystems.hpp"
#include "app/garbage_pods.hpp"
#include "cri/endpoint.hpp"
#include "cri/runtime.hpp"
#include "disk/pod_logs.hpp"
#include "evictd/model/text.hpp"
#include "observe/runtime_inventory.hpp"
#include "policy/garbage.hpp"
#include "reconcile/garbage_keeper.hpp"
#include "sys/clock.hpp"

namespace evictd::app {
namespace {

using namespace std::chrono_literals;

// Longer than any node needs; a person can end it before.
constexpr Duration longest_run = 24h;
// containerd deletes snapshots within some 100 ms of each other. A person waits for the summary.
constexpr Duration patience = 2s;
// A removal that took as long may have met a runtime that hangs: before the next one it is asked.
constexpr Duration suspicious = 2s;

// Threads that hang in a filesystem may outlive everything else.
const sys::SystemClock system_clock;

class Collection {
public:
    Collection(const Config& config, const CollectGarbage& how, port::ContainerRuntime& runtime, std::string endpoint)
        : config_(config),
          how_(how),
          runtime_(runtime),
          logs_({.pods = config.pod_logs_dir}),
          filesystems_(runtime, config.agent.cluster.kubelet_root, clock_),
          inventory_(runtime, logs_, clock_),
          keeper_(runtime, logs_, clock_, parts()) {
        report_.endpoint = std::move(endpoint);
        report_.dry_run = how.dry_run;
    }

    codec::GcReport run(const RuntimeVersion& version) {
        report_.runtime = excerpt(version.name) + " " + excerpt(version.version);
        plan();
        if (how_.on_plan) how_.on_plan(report_);
        if (!how_.dry_run) remove();
        return std::move(report_);
    }

private:
    reconcile::GarbageParts parts() {
        reconcile::GarbageParts parts;
        parts.look = [this] {
            auto look = inventory_.look();
            note(look.troubles);
            return look.runtime;
        };
        parts.available = [this] { return filesystems_.available(); };
        parts.tell_inventory = [this](RuntimePtr runtime) {
            held_ = std::move(runtime);
            return true;
        };
        parts.tell = [this](const ReclaimOutcome& outcome) {
            report_.done->freed = outcome.freed;
            return true;
        };
        parts.on_removal = [this](const Garbage& one, const GarbageOutcome& outcome) { note(one, outcome); };
        parts.patience = patience;
        return parts;
    }

    void note(const std::vector<std::string>& troubles) {
        report_.troubles.insert(report_.troubles.end(), troubles.begin(), troubles.end());
    }

    void note(const Garbage& one, const GarbageOutcome& outcome) {
        auto& removals = report_.done->removals;
        removals.push_back(outcome);
        if (how_.on_removal) how_.on_removal(removals.size(), one, outcome);
    }

    // The pods first: one that comes after the inventory has nothing in it.
    void plan() {
        auto pods = find_garbage_pods(config_);
        report_.pods = std::move(pods.sources);
        note(pods.troubles);
        const auto& gc = config_.eviction.garbage;
        const bool logs = gc.logs == ReclaimedLogs::truncate_rotated;
        // Only what is missing depends on them.
        if (logs || (how_.images && gc.images == ReclaimedImages::enough)) note(filesystems_.troubles());
        report_.missing = filesystems_.missing(config_.eviction);
        DesiredGarbage desired;
        desired.inventory_since = clock_.monotonic();
        keeper_.reconcile(desired);
        const auto& whole = held_->whole;
        const policy::GarbageRequest request{
            .forced = true,
            .images = how_.images,
            .rotated_logs = logs && whole.containers && whole.sandboxes && whole.images && whole.logs,
            .now = clock_.monotonic(),
            .inventory_since = desired.inventory_since,
            .wall = clock_.wall(),
            .missing = report_.missing,
            .pods = std::move(pods.pods)};
        auto plan = policy::plan_garbage(gc, request, *held_, pods.word_of);
        report_.goes = std::move(plan.removals);
        report_.stays = std::move(plan.kept);
    }

    void remove() {
        report_.done.emplace();
        const auto before = filesystems_.available();
        DesiredGarbage desired;
        desired.pass = 1;
        desired.forced = true;
        desired.removals = GarbageList(report_.goes);
        desired.deadline = clock_.monotonic() + longest_run;
        keeper_.reconcile(desired);
        while (const auto due = keeper_.due()) {
            if (stops()) return give_up(before);
            std::this_thread::sleep_for(std::max(*due - clock_.monotonic(), Duration{}));
            const auto begin = clock_.monotonic();
            keeper_.act_on_time();
            took_ = clock_.monotonic() - begin;
        }
    }

    bool stops() {
        report_.done->interrupted = how_.is_interrupted && how_.is_interrupted();
        if (report_.done->interrupted) return true;
        if (std::exchange(took_, {}) < suspicious) return false;
        const auto answered = runtime_.version();
        if (answered) return false;
        report_.troubles.push_back(answered.error().text());
        return true;
    }

    void give_up(std::optional<Bytes> before) {
        keeper_.release();
        const auto now = filesystems_.available();
        if (before && now) report_.done->freed = std::max(*now - *before, Bytes{});
    }

    const Config& config_;
    const CollectGarbage& how_;
    port::ContainerRuntime& runtime_;
    const sys::Clock& clock_ = system_clock;
    disk::PodLogs logs_;
    GarbageFilesystems filesystems_;
    observe::RuntimeInventory inventory_;
    codec::GcReport report_;
    RuntimePtr held_;
    Duration took_{};
    reconcile::GarbageKeeper keeper_;  // the last member: it uses the others
};

}  // namespace

Result<codec::GcReport> collect_garbage(const Config& config, const CollectGarbage& how) {
    const auto endpoint = cri::find_endpoint(config.container_runtime_endpoint);
    if (!endpoint) return tl::unexpected(endpoint.error());
    if (!*endpoint) return tl::unexpected(cri::no_endpoint());
    const auto runtime = cri::Runtime::make(**endpoint);
    if (!runtime) return tl::unexpected(runtime.error());
    const auto version = (*runtime)->version();
    if (!version) return tl::unexpected(version.error());
    // One that answers and cannot list has nothing that could go.
    if (const auto listed = (*runtime)->sandboxes(); !listed) return tl::unexpected(listed.error());
    return Collection(config, how, **runtime, **endpoint).run(*version);
}

}  // namespace evictd::app

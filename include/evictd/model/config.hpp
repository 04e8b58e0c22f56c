// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The configuration as values. config/ makes it from YAML; nobody else knows YAML. Defaults are those of a stock node.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "evictd/model/ladder.hpp"
#include "evictd/model/memory_available.hpp"
#include "evictd/model/quantity.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/stall.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

// evictionapi.ThresholdValue: a quantity, or a share of the capacity held as the float32 the kubelet computes with.
struct ThresholdValue {
    std::variant<Quantity, float> value;
    [[nodiscard]] bool is_percentage() const { return std::holds_alternative<float>(value); }
    friend bool operator==(const ThresholdValue&, const ThresholdValue&) = default;
};

// evictionapi.GetThresholdQuantity, as a whole number of the signal's unit.
[[nodiscard]] inline Amount quantity_of(const ThresholdValue& value, Amount capacity) {
    if (const auto* quantity = std::get_if<Quantity>(&value.value)) return {quantity->value()};
    const double share = static_cast<double>(capacity.value) * static_cast<double>(std::get<float>(value.value));
    // A minimum reclaim has no upper bound and ParseFloat takes "NaN": what is no int64 would be undefined.
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    if (!(share > 0)) return {0};
    return {share < static_cast<double>(most) ? static_cast<std::int64_t>(share) : most};
}

// evictionapi.Threshold. A grace period of zero is what makes a threshold hard.
struct Threshold {
    Signal signal = Signal::memory_available;
    ThresholdValue value;
    Duration grace_period{0};
    std::optional<ThresholdValue> min_reclaim;
    // A threshold in time: crossed when less than this is left at the rate of now. `value` is what that comes to at a
    // look, and no part of which threshold it is. 0: a threshold in the signal's unit.
    Duration time_left{0};
    [[nodiscard]] bool hard() const { return grace_period == Duration::zero(); }
    friend bool operator==(const Threshold& a, const Threshold& b) {
        return a.signal == b.signal && a.grace_period == b.grace_period && a.min_reclaim == b.min_reclaim &&
               a.time_left == b.time_left && (a.time_left != Duration::zero() || a.value == b.value);
    }
};

// The order of victims: the kubelet's, or that of older kubelets, which asked for the QoS class first.
enum class RankingOrder : std::uint8_t { kubelet, qos };

// What decides between pods that the kubelet leaves in any order: who a ReplicaSet would give up first, or the uid
// alone.
enum class TieBreak : std::uint8_t { scale_down, uid };

// What a pod gets that is evicted for a soft threshold while evictionMaxPodGracePeriod sets no maximum: its own grace
// period, or 1 s as from the kubelet (1.36). The first is what tapes without this field were recorded with.
enum class SoftEvictionGrace : std::uint8_t { pod, kubelet };

// What the API server shows of this node beside what the kubelet says: nothing (as on tapes without this field),
// evictd's conditions, or these and a taint for each that holds.
enum class NodeStatusUse : std::uint8_t { off, conditions, taints };

// images.ImageGCPolicy, with the kubelet's defaults.
struct ImageGcPolicy {
    int high_threshold_percent = 85;
    int low_threshold_percent = 80;
    Duration min_age = std::chrono::minutes(2);
    Duration max_age{0};  // 0: no image is too old
};

// kubecontainer.GCPolicy. A negative maximum is none.
struct ContainerGcPolicy {
    Duration min_age{0};
    int max_per_pod_container = 1;
    int max_containers = -1;
    bool evict_non_deleted_pods = false;  // true in DeleteAllUnusedContainers, when the node is short of disk
};

// Which images go when the node is short of disk: all that are unused, as from the kubelet, or those unused for the
// longest time until the thresholds and their minimum reclaim are met.
enum class ReclaimedImages : std::uint8_t { unused, enough };

// Logs that go when the node is short of disk, before a pod is evicted: none, or those that were rotated away, of the
// container with the most of them first.
enum class ReclaimedLogs : std::uint8_t { off, truncate_rotated };
// Of pods that are gone and that no source of pods knows.
enum class Orphans : std::uint8_t { off, report, remove };

// What is removed before a pod is evicted for disk, and what never is.
struct GarbageConfig {
    ImageGcPolicy image_gc;
    ReclaimedImages images = ReclaimedImages::unused;
    std::vector<std::string> keep_images;  // patterns (policy/glob.hpp) of names of images that stay
    ReclaimedLogs logs = ReclaimedLogs::off;
    bool routine = false;  // also on the kubelet's own periods, by its water marks and ages, without pressure
    Duration deadline = std::chrono::seconds(30);  // then a pod is evicted, whatever has been removed
    Orphans orphans = Orphans::off;
    Duration orphan_quarantine = std::chrono::minutes(10);  // unknown to all sources for so long, without a gap
};

// What the policy decides by. Thresholds stand in the order of ParseThresholdConfig: hard, soft, allocatable copies.
struct EvictionConfig {
    std::vector<Threshold> thresholds;
    Duration pressure_transition_period = std::chrono::minutes(5);
    std::chrono::seconds max_pod_grace_period{0};
    SoftEvictionGrace soft_eviction_grace = SoftEvictionGrace::kubelet;
    bool local_storage_isolation = true;  // localStorageCapacityIsolation: pods beyond their storage limits are evicted
    RankingOrder ranking = RankingOrder::kubelet;
    TieBreak tie_break = TieBreak::scale_down;
    bool shed_sockets = false;   // while a memory threshold is met, pods at the head of the order get no new sockets
    std::int32_t shed_pods = 1;  // how many
    std::vector<StallThreshold> stalls;  // beside the kubelet's thresholds, after them
    bool confirm_pressure = false;       // a threshold on memory evicts only while tasks stall for it
    Duration time_to_exhaustion{0};      // a soft threshold: less than this until memory has run out; 0: none
    Duration time_to_exhaustion_grace_period = std::chrono::seconds(5);
    Duration disk_time_to_exhaustion{0};  // the same for filesystems
    Duration disk_time_to_exhaustion_grace_period = std::chrono::seconds(30);
    MemoryAvailable memory_available = MemoryAvailable::kubelet;  // what thresholds on memory are compared with
    LadderConfig ladder{};  // what is done while a memory threshold is near, before anybody is killed
    NodeStatusUse node_status = NodeStatusUse::taints;  // off where there is no API server
    Duration look_period = std::chrono::seconds(10);    // the longest time between two looks: evictionMonitoringPeriod
    // The API server is told of evicted pods, and is asked first where a soft threshold is met. The wiring sets both
    // where there is a server.
    bool pod_statuses = false;
    bool soft_eviction_api = false;
    bool admission = true;  // pods that arrive under a condition are rejected as by the kubelet; needs `pod_statuses`
    // What the cluster has controllers for, done for this node; each needs `pod_statuses`.
    bool taint_eviction = false;            // NoExecute taints
    bool active_deadlines = false;          // spec.activeDeadlineSeconds
    std::int32_t kept_terminated_pods = 0;  // pod GC deletes ended pods beyond this many; 0: none
    GarbageConfig garbage{};
};

enum class ApiServerUse : std::uint8_t { automatic, off };

// automatic: what the kubelet runs with (/configz) is the configuration wherever evictd's own does not say otherwise.
// off: evictd only warns where the kubelet's thresholds are reached first.
enum class KubeletConfigUse : std::uint8_t { automatic, off };

// Where the cluster's word on this node's pods comes from.
struct ClusterConfig {
    ApiServerUse api_server = ApiServerUse::automatic;
    std::string kubeconfig{};  // empty: the pod's service account, in a pod; elsewhere there is no API server
    std::string kubelet_url = "https://127.0.0.1:10250";  // empty: the kubelet is not asked
    std::string kubelet_ca_file = "/var/lib/kubelet/pki/kubelet.crt";
    // Of the kubelet's Pods API, which is watched instead where it is there; empty: it is not looked for.
    std::string kubelet_pods_socket = "/var/lib/kubelet/pods-api/pods-api.sock";
    std::string kubelet_root = "/var/lib/kubelet";  // its root directory: pods' volumes, and what nodefs is
    [[nodiscard]] std::string pods_directory() const { return kubelet_root + "/pods"; }  // getPodsDir
    KubeletConfigUse kubelet_config = KubeletConfigUse::off;
    bool pod_status = true;         // evicted pods are reported to the API server
    bool soft_eviction_api = true;  // for soft thresholds its Eviction API is asked first
};

enum class BpfUse : std::uint8_t { automatic, off, required };

// What is done where a process of a pod has another oom_score_adj than its QoS class says: set it, say it, or nothing.
enum class OomScoreAdjPolicy : std::uint8_t { enforce, observe, off };

// evictd's own settings, under `evictd:`.
struct AgentConfig {
    std::string node_name;  // empty: $NODE_NAME, else the host name in lower case
    bool dry_run = false;
    bool watch_config = true;  // its files are read again when they change
    BpfUse bpf = BpfUse::automatic;
    std::string bpffs_path = "/sys/fs/bpf/evictd";
    std::string socket_path = "/run/evictd/evictd.sock";
    std::string intents_path = "/run/evictd/intents";  // on a tmpfs: evictions that are not over
    std::string http_address{};                        // "127.0.0.1:20262", where /metrics is; empty: nowhere
    std::string event_log_path = "/var/log/evictd/events.jsonl";
    Bytes event_log_max_size = 16_MiB;
    int event_log_max_files = 4;
    bool events_to_stdout = true;
    std::string state_path = "/var/lib/evictd";
    std::string pod_manifest_path = "/etc/evictd/pods";  // Pod manifests of evictable pods
    int realtime_priority = 10;                          // SCHED_FIFO priority of the kill path; 0: a normal thread
    OomScoreAdjPolicy oom_score_adj_policy = OomScoreAdjPolicy::enforce;
    ClusterConfig cluster{};
    bool kube_events = true;  // events on pods and the node in the API, where there is one
    // Disks are measured, garbage is removed, and pods are evicted for disk and for their storage limits.
    bool disks = false;
    bool oom_score_adj_steering = true;  // while a memory threshold is near, the first victim's processes have 1000
};

struct Config {
    EvictionConfig eviction;
    int guaranteed_oom_score_adj = -997;  // guaranteedOOMScoreAdj; older kubelets had -998
    std::vector<std::string> enforce_node_allocatable{"pods"};
    std::string cgroup_driver;  // "systemd", "cgroupfs" or empty: found by listing
    std::string cgroup_root = "/";
    std::string static_pod_path;
    std::string container_runtime_endpoint;
    std::string pod_logs_dir = "/var/log/pods";
    AgentConfig agent;
    std::string file;  // where it came from; empty: built-in defaults
    std::vector<std::string>
        warnings{};  // what is accepted, as by the kubelet, and hardly meant: "FILE:LINE: KEY: ..."
};

}  // namespace evictd

// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Text to Configs: which keys are taken, ignored or refused.
#include "config/load.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/describe.hpp"
#include "unit/config/faults.hpp"

namespace evictd::config {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> faults_of(const std::string& yaml) { return config::faults_of(load(yaml, "f.yaml")); }

TEST(Load, AnEmptyFileIsAllDefaults) {
    for (const std::string text : {"", "\n", "# nothing\n", "---\n", "---\n...\n", "null\n", "{}\n", "\xef\xbb\xbf"}) {
        const ConfigOutcome config = load(text, "f.yaml");
        ASSERT_TRUE(config) << config.error()[0].text();
        EXPECT_EQ(config->eviction.pressure_transition_period, 5min);
        EXPECT_EQ(config->eviction.max_pod_grace_period, 0s);
        EXPECT_EQ(config->cgroup_root, "/");
        EXPECT_THAT(config->enforce_node_allocatable, ElementsAre("pods"));
        EXPECT_EQ(config->eviction.look_period, 10s);
        EXPECT_EQ(config->file, "f.yaml");
    }
}

TEST(Load, AWholeKubeletConfigurationIsAValidConfig) {
    const ConfigOutcome config = load_file(fs::path(EVICTD_FIXTURES) / "config/kubelet_full.yaml");
    ASSERT_TRUE(config) << config.error()[0].text();
    EXPECT_EQ(config->eviction.thresholds.size(), 8);
    EXPECT_EQ(config->eviction.pressure_transition_period, 30s);
    EXPECT_EQ(config->eviction.max_pod_grace_period, 60s);
    EXPECT_EQ(config->cgroup_driver, "systemd");
    EXPECT_EQ(config->static_pod_path, "/etc/kubernetes/manifests");
    EXPECT_EQ(config->container_runtime_endpoint, "unix:///run/containerd/containerd.sock");
    EXPECT_THAT(config->enforce_node_allocatable, ElementsAre("pods", "system-reserved"));
}

TEST(Load, WhatKubeadmWritesMeansTheDefaults) {
    for (const Dialect dialect : {Dialect::kubelet, Dialect::evictd}) {
        const ConfigOutcome config = load_file(fs::path(EVICTD_FIXTURES) / "config/kubelet_kubeadm.yaml", dialect);
        ASSERT_TRUE(config) << config.error()[0].text();
        EXPECT_EQ(config->eviction.thresholds, Config(*load("", "")).eviction.thresholds);
        EXPECT_EQ(config->eviction.pressure_transition_period, 5min);
        EXPECT_EQ(config->eviction.garbage.image_gc.min_age, 2min);
        EXPECT_EQ(config->eviction.garbage.image_gc.max_age, 0s);
        EXPECT_EQ(config->cgroup_driver, "systemd");
    }
}

TEST(Load, EveryEvictionKeyOfAKubeletConfigurationIsRead) {
    const ConfigOutcome config =
        load_file(fs::path(EVICTD_FIXTURES) / "config/kubelet_evictions.yaml", Dialect::kubelet);
    ASSERT_TRUE(config) << config.error()[0].text();
    EXPECT_EQ(config->eviction.thresholds.size(), 10U + 3U + 1U);
    EXPECT_EQ(config->eviction.pressure_transition_period, 90s);
    EXPECT_EQ(config->eviction.max_pod_grace_period, -1s);
    EXPECT_FALSE(config->eviction.local_storage_isolation);
    EXPECT_EQ(config->eviction.garbage.image_gc.high_threshold_percent, 90);
    EXPECT_EQ(config->eviction.garbage.image_gc.low_threshold_percent, 0) << "zero is a percentage, not the default";
    EXPECT_EQ(config->eviction.garbage.image_gc.min_age, 10min);
    EXPECT_EQ(config->eviction.garbage.image_gc.max_age, 168h);
}

TEST(Load, ImageGarbageCollectionHasTheKubeletsDefaults) {
    const ImageGcPolicy policy =
        load("imageMinimumGCAge: 0s\nimageGCHighThresholdPercent: null", "f").value().eviction.garbage.image_gc;
    EXPECT_EQ(policy.high_threshold_percent, 85);
    EXPECT_EQ(policy.low_threshold_percent, 80);
    EXPECT_EQ(policy.min_age, 2min);
    EXPECT_EQ(policy.max_age, 0s);
}

TEST(Load, EverySettingOfEvictdsOwnIsRead) {
    const ConfigOutcome config = load_file(fs::path(EVICTD_FIXTURES) / "config/evictd_full.yaml");
    ASSERT_TRUE(config) << config.error()[0].text();
    const AgentConfig& agent = config->agent;
    EXPECT_EQ(agent.node_name, "node-1.example.com");
    EXPECT_TRUE(agent.dry_run);
    EXPECT_EQ(agent.bpf, BpfUse::off);
    EXPECT_EQ(agent.bpffs_path, "/sys/fs/bpf/other");
    EXPECT_EQ(agent.socket_path, "/run/other.sock");
    EXPECT_EQ(agent.http_address, "[::1]:9100");
    EXPECT_EQ(agent.event_log_path, "/var/log/other.jsonl");
    EXPECT_EQ(agent.event_log_max_size, 1_MiB);
    EXPECT_EQ(agent.event_log_max_files, 9);
    EXPECT_FALSE(agent.events_to_stdout);
    EXPECT_EQ(agent.state_path, "/var/lib/other");
    EXPECT_EQ(agent.pod_manifest_path, "/srv/pods");
    EXPECT_EQ(config->eviction.look_period, 1s);
    EXPECT_EQ(config->eviction.node_status, NodeStatusUse::conditions);
    EXPECT_FALSE(config->agent.kube_events);
    EXPECT_EQ(agent.realtime_priority, 0);
    EXPECT_EQ(config->eviction.time_to_exhaustion, 30s);
    EXPECT_EQ(config->eviction.time_to_exhaustion_grace_period, 10s);
    EXPECT_EQ(config->eviction.disk_time_to_exhaustion, 5min);
    EXPECT_EQ(config->eviction.disk_time_to_exhaustion_grace_period, 1min);
    EXPECT_EQ(config->cgroup_root, "/kubelet");
    EXPECT_EQ(config->eviction.soft_eviction_grace, SoftEvictionGrace::pod);
    EXPECT_EQ(config->eviction.ranking, RankingOrder::qos);
    EXPECT_EQ(config->eviction.tie_break, TieBreak::uid);
    EXPECT_EQ(config->guaranteed_oom_score_adj, -998);
    EXPECT_TRUE(config->eviction.shed_sockets);
    EXPECT_EQ(config->eviction.shed_pods, 3);
    EXPECT_EQ(config->eviction.ladder, (LadderConfig{false, true, 10s, true, 200ms}));
    EXPECT_EQ(config->eviction.stalls.size(), 2U);
    EXPECT_TRUE(config->eviction.confirm_pressure);
    EXPECT_EQ(config->eviction.memory_available, MemoryAvailable::reclaimable);
}

TEST(Load, TheShippedExampleIsValidWithEveryKeyUncommentedAndHasTheDefaults) {
    std::ifstream example(EVICTD_FIXTURES "/../../deploy/evictd.example.yaml");
    ASSERT_TRUE(example.good());
    std::string yaml;
    for (std::string line; std::getline(example, line);) {
        // "# " begins a sentence for people; "#key" and "#  key" are keys.
        const bool key = line.starts_with('#') && line.size() > 2 && (line[1] != ' ' || line[2] == ' ');
        if (key) yaml += line.substr(1) + "\n";
    }
    const ConfigOutcome config = load(yaml, "example");
    ASSERT_TRUE(config) << config.error()[0].text();
    EXPECT_THAT(yaml, HasSubstr("eventLog:"));
    EXPECT_THAT(describe(*config, false), Not(HasSubstr("evictd.")));
}

TEST(Load, ReportsEveryFaultAtOnceInTheFilesOrder) {
    const std::string file = EVICTD_FIXTURES "/config/many_faults.yaml";
    const auto faults = config::faults_of(load_file(file));
    const auto one = [&](const std::string& rest) { return StartsWith(file + rest); };
    EXPECT_THAT(
        faults,
        ElementsAre(one(":2: evictionHard.memory.availble: unsupported eviction signal memory.availble (did you "
                        "mean memory.available?)"),
                    one(":3: evictionHard.nodefs.available: eviction percentage threshold nodefs.available must "
                        "be <= 100%: 110% (a percentage from 0% to 100%)"),
                    one(":5: evictionSoft.memory.available: grace period must be specified"),
                    one(":6: evictionSoft.pid.available: invalid quantity \"ten\" ("),
                    one(":7: evictionPressureTransitionPeriod: time: missing unit in duration \"5\""),
                    one(":8: cgroupDriver: \"systemctl\" is not a cgroup driver"),
                    one(":9: evictionHrad: unknown key (did you mean evictionHard?"),
                    one(":11: evictd.lookPeriod: out of range: 2h0m0s (10ms to 1h)"),
                    one(":12: evictd.eventlog: unknown key (did you mean evictd.eventLog")));
}

TEST(Load, JsonIsYaml) {
    const ConfigOutcome config =
        load("{\n\t\"evictionHard\": {\n\t\t\"memory.available\": \"1Gi\"\n\t}\n}\n", "f.json");
    ASSERT_TRUE(config) << config.error()[0].text();
    EXPECT_EQ(config->eviction.thresholds[0].signal, Signal::memory_available);
}

TEST(Load, AZeroTransitionPeriodIsTheDefault) {
    EXPECT_EQ(load("evictionPressureTransitionPeriod: 0s", "f").value().eviction.pressure_transition_period, 5min);
    EXPECT_EQ(load("evictionPressureTransitionPeriod: 0", "f").value().eviction.pressure_transition_period, 5min);
}

TEST(Load, ANegativeMaximumGraceIsTheKubeletsToJudge) {
    EXPECT_EQ(load("evictionMaxPodGracePeriod: -1", "f").value().eviction.max_pod_grace_period, -1s);
}

TEST(Load, ACgroupRootIsAPathBelowTheHierarchy) {
    EXPECT_EQ(load("cgroupRoot: ''", "f").value().cgroup_root, "/");
    EXPECT_EQ(load("cgroupRoot: kubelet", "f").value().cgroup_root, "/kubelet");
    EXPECT_EQ(load("cgroupRoot: /a/b", "f").value().cgroup_root, "/a/b");
}

struct RefusedDocument {
    std::string yaml;
    std::string fault;  // how it begins
};

TEST(Load, RefusesWhatIsOutOfRangeOrOfTheWrongType) {
    const std::vector<RefusedDocument> rows{
        {"[]", "f.yaml:1: found a list (expected a map)"},
        {"just text", "f.yaml:1: invalid value \"just text\" (expected a map)"},
        {"kind: Pod", "f.yaml:1: kind: \"Pod\" is not a configuration of evictd"},
        {"kind: [Pod]", "f.yaml:1: kind: found a list (expected text)"},
        {"apiVersion: v1", "f.yaml:1: apiVersion: \"v1\" is not a kubelet configuration"},
        {"evictionPressureTransitionPeriod: -1s",
         "f.yaml:1: evictionPressureTransitionPeriod: must not be negative: -1s"},
        {"evictionPressureTransitionPeriod: {}",
         "f.yaml:1: evictionPressureTransitionPeriod: found a map (expected text)"},
        {"evictionMaxPodGracePeriod: 1m",
         "f.yaml:1: evictionMaxPodGracePeriod: invalid value \"1m\" (expected a whole number from"},
        {"evictionMaxPodGracePeriod: '1'",
         "f.yaml:1: evictionMaxPodGracePeriod: invalid value \"1\" (expected a whole number from"},
        {"evictionMaxPodGracePeriod: 2147483648", "f.yaml:1: evictionMaxPodGracePeriod: invalid value \"2147483648\""},
        {"mergeDefaultEvictionSettings: maybe",
         "f.yaml:1: mergeDefaultEvictionSettings: invalid value \"maybe\" (expected true or"},
        {"enforceNodeAllocatable: pods", "f.yaml:1: enforceNodeAllocatable: invalid value \"pods\" (expected a list)"},
        {"enforceNodeAllocatable:\n- pods\n- pod",
         "f.yaml:3: enforceNodeAllocatable[1]: invalid configuration: option "
         "\"pod\" specified for enforceNodeAllocatable "
         "(--enforce-node-allocatable) (did you mean pods?)"},
        {"enforceNodeAllocatable: [pods, pods]",
         "f.yaml:1: enforceNodeAllocatable[1]: invalid configuration: duplicated"},
        {"enforceNodeAllocatable: [none, pods]",
         "f.yaml:1: enforceNodeAllocatable: invalid configuration: "
         "enforceNodeAllocatable (--enforce-node-allocatable) may not contain"},
        {"cgroupRoot: ../..", "f.yaml:1: cgroupRoot: \"../..\" leaves the cgroup hierarchy"},
        {"cgroupRoot: /a/../b", "f.yaml:1: cgroupRoot: \"/a/../b\" leaves the cgroup hierarchy"},
        {"containerRuntimeEndpoint: tcp://127.0.0.1:1234",
         "f.yaml:1: containerRuntimeEndpoint: \"tcp://127.0.0.1:1234\" is no Unix socket (such as "
         "unix:///run/containerd/"},
        {"containerRuntimeEndpoint: unix://run/containerd.sock", "f.yaml:1: containerRuntimeEndpoint: \"unix://run/"},
        {"systemReserved: {gpu: 1}",
         "f.yaml:1: systemReserved.gpu: cannot reserve \"gpu\" resource (did you mean cpu?)"},
        {"kubeReserved: {cpu: many}",
         "f.yaml:1: kubeReserved.cpu: invalid quantity \"many\" (expected a number with a suffix such as Ki, Mi, Gi)"},
        {"kubeReserved: {cpu: -1}", "f.yaml:1: kubeReserved.cpu: resource quantity for \"cpu\" cannot be negative: -1"},
        {"imageGCHighThresholdPercent: 101",
         "f.yaml:1: imageGCHighThresholdPercent: invalid HighThresholdPercent 101, "
         "must be in range [0-100]"},
        {"imageGCLowThresholdPercent: -1",
         "f.yaml:1: imageGCLowThresholdPercent: invalid LowThresholdPercent -1, must"},
        {"imageGCLowThresholdPercent: 90",
         "f.yaml:1: imageGCLowThresholdPercent: LowThresholdPercent 90 can not be "
         "higher than HighThresholdPercent 85"},
        {"imageGCHighThresholdPercent: 70", "f.yaml:1: imageGCHighThresholdPercent: LowThresholdPercent 80 can not be"},
        {"imageMinimumGCAge: -1m", "f.yaml:1: imageMinimumGCAge: must not be negative: -1m0s"},
        {"imageMaximumGCAge: 1m",
         "f.yaml:1: imageMaximumGCAge: invalid configuration: imageMaximumGCAge 1m0s must be "
         "greater than imageMinimumGCAge 2m0s"},
        {"evictd: []", "f.yaml:1: evictd: found a list (expected a map)"},
        {"evictd: {eventLog: /var/log/x}",
         "f.yaml:1: evictd.eventLog: invalid value \"/var/log/x\" (expected a map of path, maxSize, maxFiles and "
         "stdout)"},
        {"evictd: {ranking: QoS}", "f.yaml:1: evictd.ranking: invalid value \"QoS\" (expected kubelet or qos)"},
        {"evictd: {softEvictionGrace: own}",
         "f.yaml:1: evictd.softEvictionGrace: invalid value \"own\" (expected kubelet or pod)"},
        {"evictd: {tieBreak: name}", "f.yaml:1: evictd.tieBreak: invalid value \"name\" (expected scaleDown or uid)"},
        {"evictd: {guaranteedOOMScoreAdj: -999}",
         "f.yaml:1: evictd.guaranteedOOMScoreAdj: invalid value \"-999\" (expected a whole number from -998 to -997"},
        {"evictd: {oomScoreAdjPolicy: true}",
         "f.yaml:1: evictd.oomScoreAdjPolicy: invalid value \"true\" (expected enforce, observe or off)"},
        {"localStorageCapacityIsolation: 1",
         "f.yaml:1: localStorageCapacityIsolation: invalid value \"1\" (expected true or false"},
        {"evictd: {bpf: on}", "f.yaml:1: evictd.bpf: invalid value \"on\" (expected auto, off or required)"},
        {"evictd: {dryRun: 1}", "f.yaml:1: evictd.dryRun: invalid value \"1\" (expected true or false)"},
        {"evictd: {nodeName: Node_1}", "f.yaml:1: evictd.nodeName: \"Node_1\" is not a node name"},
        {"evictd: {bpffsPath: /sys/fs/bpf}",
         "f.yaml:1: evictd.bpffsPath: the BPF filesystem itself, where others have their pins (/sys/fs/bpf/evictd)"},
        {"evictd: {bpffsPath: /sys/fs/x/..//bpf/}",
         "f.yaml:1: evictd.bpffsPath: the BPF filesystem itself, where others have their pins (/sys/fs/bpf/evictd)"},
        {"evictd: {statePath: var}", "f.yaml:1: evictd.statePath: \"var\" is not a path from the root"},
        {"evictd: {socketPath: /" + std::string(100, 's') + "}", "f.yaml:1: evictd.socketPath: longer than 100 bytes"},
        {"evictd: {httpAddress: localhost:80}",
         "f.yaml:1: evictd.httpAddress: invalid address \"localhost:80\" (expected 127.0.0.1:20262, or [::1]:20262)"},
        {"evictd: {httpAddress: 127.0.0.1}", "f.yaml:1: evictd.httpAddress: invalid address \"127.0.0.1\""},
        {"evictd: {httpAddress: 127.0.0.1:0}", "f.yaml:1: evictd.httpAddress: invalid address \"127.0.0.1:0\""},
        {"evictd: {httpAddress: 127.0.0.1:65536}", "f.yaml:1: evictd.httpAddress: invalid address \"127.0.0.1:65536\""},
        {"evictd: {httpAddress: 127.0.0.1:80x}", "f.yaml:1: evictd.httpAddress: invalid address \"127.0.0.1:80x\""},
        {"evictd: {httpAddress: \"::1:80\"}", "f.yaml:1: evictd.httpAddress: invalid address \"::1:80\""},
        {"evictd: {httpAddress: 8080}", "f.yaml:1: evictd.httpAddress: invalid address \"8080\""},
        {"evictd: {eventLog: {maxSize: 1Ki}}", "f.yaml:1: evictd.eventLog.maxSize: out of range: 1Ki (64Ki to 1Ti)"},
        {"evictd: {eventLog: {maxSize: big}}", "f.yaml:1: evictd.eventLog.maxSize: invalid quantity \"big\" ("},
        {"evictd: {eventLog: {maxFiles: 0}}",
         "f.yaml:1: evictd.eventLog.maxFiles: invalid value \"0\" (expected a whole number "
         "from 1 to 1000"},
        {"evictd: {memoryAvailable: free}",
         "f.yaml:1: evictd.memoryAvailable: invalid value \"free\" (expected kubelet or reclaimable)"},
        {"evictd: {sockets: {shed: 1}}", "f.yaml:1: evictd.sockets.shed: invalid value \"1\" (expected true or false)"},
        {"evictd: {sockets: {shedPods: 0}}",
         "f.yaml:1: evictd.sockets.shedPods: invalid value \"0\" (expected a whole number from 1 to 1000"},
        {"evictd: {ladder: {reclaim: 1}}",
         "f.yaml:1: evictd.ladder.reclaim: invalid value \"1\" (expected true or false)"},
        {"evictd: {ladder: {squeezeFor: 1h}}", "f.yaml:1: evictd.ladder.squeezeFor: out of range: 1h0m0s (1s to 10m)"},
        {"evictd: {ladder: {freezeFor: 1ms}}", "f.yaml:1: evictd.ladder.freezeFor: out of range: 1ms (20ms to 5s)"},
        {"evictd: {ladder: {freze: true}}",
         "f.yaml:1: evictd.ladder.freze: unknown key (did you mean evictd.ladder.freeze?"},
        {"evictd: {timeToExhaustion: {soft: 10ms}}",
         "f.yaml:1: evictd.timeToExhaustion.soft: out of range: 10ms (1s to 1h; 0s switches it off)"},
        {"evictd: {timeToExhaustion: {softGracePeriod: 0s}}",
         "f.yaml:1: evictd.timeToExhaustion.softGracePeriod: out of range: 0s (100ms to 1h)"},
        {"evictd: {timeToExhaustion: 30s}",
         "f.yaml:1: evictd.timeToExhaustion: invalid value \"30s\" (expected a map of soft, softGracePeriod, "
         "diskSoft and diskSoftGracePeriod)"},
        {"evictd: {lookPeriod: 1ms}", "f.yaml:1: evictd.lookPeriod: out of range: 1ms (10ms to 1h)"},
        {"evictd: {realtimePriority: 100}",
         "f.yaml:1: evictd.realtimePriority: invalid value \"100\" (expected a whole number "
         "from 0 to 99"},
    };
    for (const RefusedDocument& row : rows) {
        SCOPED_TRACE(row.yaml);
        EXPECT_THAT(faults_of(row.yaml), ElementsAre(StartsWith(row.fault)));
    }
}

}  // namespace
}  // namespace evictd::config

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Pods of a real kubelet that evictd knows only from the runtime, as it has neither manifests nor an API server: they are
# named, also when the kernel kills in one of them, and nothing is done to them, though the biggest is one of them.
# needs: node
# shellcheck disable=SC2317,SC2016  # check calls functions by name; eval expands later
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
agent_on_node
settings="disks: true
  ladder: {freeze: true}
  kubelet: {rootDirectory: $node/kubelet}"
configure() { echo "evictionHard: {allocatableMemory.available: $1Mi}"; }
runtime="containerRuntimeEndpoint: unix://$node/sock/containerd.sock"

RESTART=Never make_pod small "" "" vm_load hold 40
RESTART=Never make_pod hog "" "" vm_load grow 200 --up-to 500 --after /tmp/go
check "two pods run" eval 'wait_for 30 pod_is small Running && wait_for 30 pod_is hog Running'
wait_for 10 container_pid hog > /dev/null
hog=$(container_pid hog)
score=$(cat "/proc/$hog/oom_score_adj")
write_config "$(configure 4)" "$runtime"
start_agent
status_says() { run 0 status --socket "$work/run/evictd.sock" && says "$1"; }
only_runtime() { status_says "default/$1, [0-9.]+[KM]?i?, known only from the container runtime"; }
check "status names them, and says that only the runtime knows them" eval 'wait_for 15 only_runtime hog && wait_for 15 only_runtime small'
ranks_none() { run 0 rank --socket "$work/run/evictd.sock" && ! says default/; }
check "none of them is in the victim order" ranks_none

kubectl get pod small -o yaml > "$work/pods/.small" && mv "$work/pods/.small" "$work/pods/small.yaml"
ranks_small() { run 0 rank --socket "$work/run/evictd.sock" && says default/small && ! says default/hog; }
check "one that gets a manifest is" wait_for 10 ranks_small
check "and is not told of any more as only the runtime's" eval '! only_runtime small && only_runtime hog'

available() { # MiB
    status_says allocatableMemory &&
        sed -nE 's/^  allocatableMemory.available .* ([0-9]+)Mi +1Gi .*/\1/p' "$work/out"
}
sleep 11 # its manifest is not waited for any more
check "a threshold above which there are 200 MiB" reload "$(configure $(($(available) - 200)))" "$runtime"
touch "/proc/$hog/root/tmp/go"
check "the biggest pod makes the threshold met, and the one with a manifest is evicted" wait_for 20 evicted small
sleep 3 # the threshold stays met
lives() { alive "$hog" && [ "$(cat "/proc/$hog/oom_score_adj")" = "$score" ]; }
check "the biggest lives, and keeps its oom_score_adj" lives
untouched() { ! logged '"reason":"(Evict|PodSqueezed|PodFrozen)[^"]*".*"name":"hog"'; }
check "and nothing was done to it" untouched
check "it is still told of" only_runtime hog

RESTART=Never make_pod over "" 64Mi sh -c 'sleep 4; exec vm_load grow 400 --up-to 200'
named_oom() { logged '"reason":"OOMKilling".*of container main of pod default/over.*"pod":\{"namespace":"default","name":"over"'; }
check "a kill by the kernel names container and pod" wait_for 30 named_oom
check "without a class or a priority, which nobody knows" eval '! logged "\"reason\":\"OOMKilling\".*\"(qos|priority)\""'
check "the agent ends" stop_agent
exit "$failed"

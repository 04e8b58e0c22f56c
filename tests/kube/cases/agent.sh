#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# evictd beside the kubelet: it finds the kubelet's pods, and kills the one that takes the memory.
# needs: node
# shellcheck disable=SC2317  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
agent_on_node
hard() { echo "evictionHard: {allocatableMemory.available: $1Mi}"; }

kubectl apply -f "$kube/pods.yaml" > /dev/null
pods="besteffort burstable guaranteed"
for pod in $pods; do wait_for 30 pod_is "$pod" Running; done
wait_for 30 pod_is critical Running -n kube-system
write_config "$(hard 4)"
start_agent
status_says() { run 0 status --socket "$work/run/evictd.sock" && says "$1"; }
check "it sees pods whose manifests it does not have" wait_for 10 status_says '4 pods have no manifest'
write_manifests
ranked() {
    local pod
    run 0 rank --socket "$work/run/evictd.sock" || return 1
    for pod in $pods; do says "default/$pod" || return 1; done
}
check "it knows them by their manifests" wait_for 10 ranked

RESTART=Never make_pod hog "" "" vm_load grow 200 --up-to 500 --after /tmp/go
wait_for 30 pod_is hog Running
wait_for 10 container_pid hog > /dev/null
hog=$(container_pid hog)
write_manifests
wait_for 10 status_says default/hog
processes() { for pod in $pods; do container_pid "$pod"; done; }
before=$(processes)
available() { # MiB
    status_says allocatableMemory &&
        sed -nE 's/^  allocatableMemory.available .* ([0-9]+)Mi +1Gi .*/\1/p' "$work/out"
}
reload "$(hard $(($(available) - 200)))"
evicts() {
    touch "/proc/$hog/root/tmp/go"
    wait_for 10 evicted hog && wait_for 5 gone "$hog"
}
check "it kills the pod that takes the memory" evicts
others_live() { [ "$(processes)" = "$before" ] && [ "$(count '"reason":"Evicted"')" -eq 1 ]; }
check "and no other" others_live
check "the API server shows the pod as failed" wait_for 20 pod_is hog Failed
check "it ends with 0" stop_agent
exit "$failed"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# A soft eviction asks the Eviction API: a PodDisruptionBudget refuses it, the pod lives when the pressure is over first,
# and without the budget the kubelet ends the pod.
# needs: node
# shellcheck disable=SC2317  # check calls functions by name
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
# shellcheck source-path=SCRIPTDIR source=../evictions.sh
. "$(dirname "$0")/../evictions.sh"

write_config "evictionSoft: {allocatableMemory.available: 700Mi}" "evictionSoftGracePeriod: {allocatableMemory.available: 1s}"
start_agent
budget() {
    kubectl apply -f - > /dev/null << END
apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: all}
spec: {minAvailable: 100%, selector: {matchLabels: {app: test}}}
END
}
# "kept" holds most, and both together are beyond the threshold.
fill() { hog filler 150 && ready filler && grow filler; }
refused() {
    budget && hog kept 250 && ready kept && grow kept && fill && wait_for 30 of_pod EvictionDelayed kept
}
check "a PodDisruptionBudget refuses the eviction" refused
kept=$(container_pid kept)
lives() { [ "$(container_pid kept)" = "$kept" ] && pod_is kept Running; }
check "and the pod lives meanwhile" lives
withdrawn() { remove filler && wait_for 20 of_pod EvictionWithdrawn kept; }
check "the eviction is withdrawn when the pressure is over" withdrawn
lives_on() {
    local end=$((SECONDS + 5))
    while [ "$SECONDS" -lt "$end" ]; do lives || return 1; sleep 0.5; done
    [ -z "$(kubectl get events --field-selector involvedObject.name=kept,reason=Evicted -o name)" ] && ! evicted kept
}
check "the pod lives, and no event says that it was evicted" lives_on
granted() { kubectl delete poddisruptionbudget all > /dev/null && fill && wait_for 30 of_pod EvictionReported kept; }
check "without the budget the API server accepts it" granted
# kubelet 1.20 looks every 10 s whether all of a pod is removed; on a busy machine its resync, after a minute, finds it.
is_gone() { ! kubectl get pod kept > /dev/null 2>&1 && gone "$kept"; }
check "and the kubelet ends the pod" wait_for 90 is_gone
events() { kubectl get events --field-selector involvedObject.name=kept,reason=Evicted -o name; }
has_one_event() { [ "$(events | wc -l)" -eq 1 ]; }
check "which is one event Evicted" wait_for 10 has_one_event
check "it ends with 0" stop_agent
exit "$failed"

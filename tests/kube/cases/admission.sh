#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# Pods that go for another reason than their memory, beside a kubelet: one that arrives under evictd's condition is rejected
# and does not run again; a NoExecute taint, an active deadline and pod GC are carried out, where each is switched on.
# needs: node
# shellcheck disable=SC2317,SC2016  # check calls functions by name; eval expands later
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
agent_on_node
plain_settings="nodeName: n1
  kubeconfig: $rig/evictd.kubeconfig
  kubelet: {url: \"https://127.0.0.1:$(cat "$node/kubelet.port")\", caFile: $node/certs/kubelet.crt}
  nodeStatus: taints
  taintEviction: true
  activeDeadlines: true"
settings=$plain_settings
# Always met, because the node's pods have 1 GiB; no pod is evicted for it within ten minutes.
thresholds="evictionSoft: {allocatableMemory.available: 2Gi}
evictionSoftGracePeriod: {allocatableMemory.available: 10m}"
watched=12 # seconds

pod_with() { # pod_with NAME SPEC-LINES: BestEffort
    kubectl apply -f - > /dev/null << END
apiVersion: v1
kind: Pod
metadata: {name: "$1"}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 1
$2
  containers:
  - {name: main, image: "localhost/load:1", imagePullPolicy: Never, command: [vm_load, hold, "1"]}
END
}
runs() { container_pid "$1" > /dev/null 2>&1; }
is_gone() { ! kubectl get pod "$1" > /dev/null 2>&1; }
# Deleted, and ended by the kubelet; that confirms it later, up to a minute where it has not removed the containers at once.
is_deleted() { ! runs "$1" && { is_gone "$1" || [ -n "$(jsonpath "pod/$1" '{.metadata.deletionTimestamp}')" ]; }; }
of_pod() { grep "\"reason\":\"$1\"" "$log" 2> /dev/null | grep "\"name\":\"$2\""; } # of_pod REASON POD
status_says() { run 0 status --socket "$work/run/evictd.sock" && says "$1"; }
stays_dead() { # stays_dead POD: no process of its command for as long as evictd watches
    local end=$((SECONDS + watched))
    while [ "$SECONDS" -lt "$end" ]; do
        ! runs "$1" || { echo "    $1 runs"; return 1; }
        sleep 0.2
    done
    pod_is "$1" Failed || { echo "    it is $(jsonpath "pod/$1" '{.status.phase}')"; return 1; }
}
kubectl apply -f "$top/deploy/kustomize/overlays/removals/rbac.yaml" > /dev/null
kubectl create clusterrolebinding rig-removals --clusterrole=evictd-removals --user=evictd > /dev/null
rights_end() { kubectl delete clusterrolebinding rig-removals evictd-removals > /dev/null; kubectl delete clusterrole evictd-removals > /dev/null; }

all_taints="  tolerations: [{operator: Exists}]"
pod_with before "$all_taints"
wait_for 40 pod_is before Running || not_ok "the first pod runs"
write_config "$thresholds"
start_agent
check "the condition holds" wait_for 10 status_says MemoryPressure
check "the node's word on a shutdown comes from the API server or logind" status_says 'node shutdown'

# ---- admission

pod_with rejected ""
check "a BestEffort pod that arrives under it is rejected" wait_for 10 of_pod PodNotAdmitted rejected
check "and Failed in the API" wait_for 5 pod_is rejected Failed
check "with the kubelet's message as its event" wait_for 10 eval \
    'kubectl get events -o jsonpath="{.items[?(@.involvedObject.name==\"rejected\")].message}" | grep -qF "The node had condition: [MemoryPressure]."'
pod_with tolerant "  tolerations: [{key: node.kubernetes.io/memory-pressure, operator: Exists, effect: NoSchedule}, {key: stays, operator: Exists}]"
make_pod burstable 16Mi "" vm_load hold 1
check "one that tolerates the kubelet's taint runs" wait_for 40 runs tolerant
check "one with a request runs" wait_for 40 runs burstable
pod_with timed "  tolerations: [{key: node.kubernetes.io/memory-pressure, operator: Exists}, {key: stays, operator: Exists, effect: NoExecute, tolerationSeconds: 4}]"
pod_with overdue "  activeDeadlineSeconds: 6
$all_taints
  restartPolicy: Always"
check "the rejected pod does not run within $watched s" stays_dead rejected
check "the pod that was there before still runs" runs before
check "and so does the tolerant one" runs tolerant
check "no other was rejected" eval '[ "$(count "\"reason\":\"PodNotAdmitted\"")" = 1 ]'

# ---- deadlines

check "a pod past its deadline is Failed" wait_for 20 pod_is overdue Failed

# ---- taints

check "a pod that tolerates it for 4 s runs" wait_for 40 runs timed
kubectl taint node n1 stays=no:NoExecute > /dev/null
check "a NoExecute taint deletes the pod that does not tolerate it" wait_for 20 is_deleted burstable
check "and after its time the one that tolerates it for 4 s" wait_for 20 is_deleted timed
check "those that tolerate it run" eval 'runs before && runs tolerant'
check "both are in the event log" eval 'of_pod TaintEviction burstable > /dev/null && of_pod TaintEviction timed > /dev/null'
removed_at() { date -d "$(of_pod TaintEviction "$1" | sed -nE 's/.*"time":"([^"]+)".*/\1/p' | head -n 1)" +%s; } # removed_at POD: in seconds
check "4 s apart" eval '[ $(($(removed_at timed) - $(removed_at burstable))) -ge 3 ]'
kubectl taint node n1 stays- > /dev/null

# ---- pod GC

is_kept() { pod_is rejected Failed && pod_is overdue Failed; }
check "ended pods are kept unless told otherwise" is_kept
settings="$plain_settings
  podGCThreshold: 1"
check "a setting that changes" reload "$thresholds"
check "of two ended pods one is deleted" wait_for 20 of_pod PodCollected '[a-z]*'
check "and one is kept" eval 'sleep 1; [ "$(is_gone rejected && echo 1)$(is_gone overdue && echo 1)" = 1 ]'

check "it ends with 0" stop_agent
rights_end
exit "$failed"

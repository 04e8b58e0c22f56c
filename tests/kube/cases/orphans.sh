#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# What is left of a pod that was deleted by force while the kubelet was away: it stays while the API server is away, and
# goes after the quarantine once the API server says that the pod is gone. What is left of a pod that it has, stays.
# needs: node
# in turns
# waits for minutes
# shellcheck disable=SC2317,SC2016  # check calls functions by name; eval expands later
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"
agent_on_node
settings="disks: true
  gc: {orphans: remove, orphanQuarantine: 1m}
  nodeName: n1
  kubeconfig: $rig/evictd.kubeconfig
  kubelet: {url: \"\", rootDirectory: $node/kubelet}"

RESTART=Never make_pod left "" "" true
RESTART=Never make_pod kept "" "" true
check "two pods have ended" eval 'wait_for 30 pod_is left Succeeded && wait_for 30 pod_is kept Succeeded'
left=$(pod_uid left) kept=$(pod_uid kept)
export left kept
logs_of() { kubelet_enter sh -c "ls -d /var/log/pods/default_$1_*" > /dev/null 2>&1; }
runtime_has() { # runtime_has UID
    grep -q . < <("$bin/ctr" -a "$node/sock/containerd.sock" -n k8s.io containers ls -q "labels.\"io.kubernetes.pod.uid\"==$1")
}
read -r kubelet _ < "$node/kubelet.pid"
check "the kubelet stops" kill -STOP "$kubelet"
kubectl delete pod left --force --grace-period 0 > /dev/null 2>&1
check "one of them is deleted meanwhile, and all of both is left" eval 'logs_of left && runtime_has "$left" && logs_of kept && runtime_has "$kept"'

write_config "evictionHard: {memory.available: 1Mi}" "containerRuntimeEndpoint: unix://$node/sock/containerd.sock"
start_agent
sleep 5
check "the API server goes" api_server_down
sleep 100 # the quarantine and a period of the collection
check "without it all stay" eval 'logs_of left && runtime_has "$left" && ! logged "\"reason\":\"OrphanRemoved\""'
check "the API server comes back" kube_up
sleep 30
check "the quarantine begins anew" eval 'logs_of left && runtime_has "$left"'
gone() { ! logs_of left && ! runtime_has "$left"; }
check "then all that is left of the pod goes" wait_for 240 gone
check "the logs of the other stay" logs_of kept
check "and its container" wait_for 5 runtime_has "$kept"
check "and nothing of it was removed" eval '! logged "\"reason\":\"OrphanRemoved\".*default/kept"'
check "the agent ends" stop_agent
kill -CONT "$kubelet"
exit "$failed"

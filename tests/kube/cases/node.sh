#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright The evictd authors
# The node: a kubelet that runs real pods with real memory in cgroups that it made.
# needs: node
# shellcheck disable=SC2317,SC2016  # check calls functions by name; eval expands later
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=../rig.sh
. "$(dirname "$0")/../rig.sh"

ready() { [ "$(jsonpath node/n1 '{.status.conditions[?(@.type=="Ready")].status}')" = True ]; }
check "the node is Ready" ready
limited() { [ $(($(cat "/sys/fs/cgroup/memory/$(cgroup_of "$rig")/kubepods/memory.limit_in_bytes") >> 20)) -le 1025 ]; }
check "its pods together are limited to 1 GiB" limited
kubectl apply -f "$kube/pods.yaml" > /dev/null

running() { # running NAME NAMESPACE MIB QOS PATH: with its memory, in the cgroup of its class
    local directory
    wait_for 30 pod_is "$1" Running -n "$2" || return 1
    [ "$(jsonpath "pod/$1" '{.status.qosClass}' -n "$2")" = "$4" ] || return 1
    directory=$(pod_cgroup "$(pod_uid "$1" -n "$2")") && [[ $directory == */kubepods$5/pod* ]] || return 1
    wait_for 10 eval "[ \$((\$(cat $directory/memory.usage_in_bytes) >> 20)) -ge $3 ]"
}
check "a BestEffort pod runs with its memory" running besteffort default 24 BestEffort /besteffort
check "a Burstable pod" running burstable default 32 Burstable /burstable
check "a Guaranteed pod" running guaranteed default 40 Guaranteed ""
check "a critical pod" running critical kube-system 16 BestEffort /besteffort
critical() { [ "$(jsonpath pod/critical '{.spec.priority}' -n kube-system)" = 2000001000 ]; }
check "its priority is the class's" critical

kubelet_says() { # kubelet_says STATUS USER: the kubelet's own list of pods; it signs its certificate itself, for its name
    local got
    got=$(curl -s -o "$work/out" -w '%{http_code}' --max-time 20 --cacert "$node/certs/kubelet.crt" \
        --connect-to "n1::127.0.0.1:$(cat "$node/kubelet.port")" -H "Authorization: Bearer $(cat "$rig/$2.token")" https://n1/pods)
    echo >> "$work/out"
    [ "$got" = "$1" ] || { echo "    status $got, not $1"; return 1; }
}
kubelet_lists() { kubelet_says 200 evictd && says '"name":"guaranteed"' && says '"kubernetes.io/config.source":"api"'; }
check "the kubelet's /pods answers evictd's token" kubelet_lists
check "and refuses a user without rights" kubelet_says 403 nobody
in_namespace() {
    local logs
    logs=/var/log/pods/default_besteffort_$(pod_uid besteffort)/main/0.log
    [ ! -e "$logs" ] &&
        kubelet_enter cat "$logs" > "$work/out" && says 'stdout F ready [0-9]+ [0-9]+'
}
check "pods' logs are in the node's mount namespace only" in_namespace
agent_runs() { kubelet_enter "$EVICTD" --version > "$work/out" && says evictd; }
check "evictd runs in there" agent_runs

restart_count() { jsonpath "pod/$1" '{.status.containerStatuses[0].restartCount}'; }
restarted() {
    local first
    first=$(container_pid burstable) && [ -n "$first" ] && kill -KILL "$first" || return 1
    wait_for 20 eval '[ "$(restart_count burstable)" = 1 ]' && wait_for 10 pod_is burstable Running && gone "$first"
}
check "a killed container is started again by the kubelet" restarted
kubelet_restarts() {
    local before
    before=$(container_pid guaranteed)
    stop_recorded "$node/kubelet.pid" && kubelet_up && wait_for 30 ready && [ -n "$before" ] && [ "$(container_pid guaranteed)" = "$before" ]
}
check "the kubelet is stopped and started again, and pods live on" kubelet_restarts
deleted() {
    local process directory
    process=$(container_pid besteffort)
    directory=$(pod_cgroup "$(pod_uid besteffort)") && [ -n "$process" ] || return 1
    kubectl delete pod besteffort --timeout=90s > /dev/null && gone "$process" && wait_for 10 eval "[ ! -e $directory ]" &&
        ! kubectl get pod besteffort > /dev/null 2>&1
}
check "a deleted pod is gone, with its processes and cgroup" deleted
exit "$failed"
